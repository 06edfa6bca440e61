#include <string>

namespace shop::money {

class Named;

/** What is bought. */
template <typename T>
class Cart : public Base<T>, private util::Closeable {
 public:
  Cart() : count_(0) {}
  ~Cart();
  int add(T item) { return size(); }
  virtual void pay(int) = 0;
  bool operator==(const Cart& other) const { return true; }
  enum class State { kOpen };

 private:
  int size() const;
  int count_ GUARDED_BY(mutex_);
};

struct Price {
  long cents;
};

}  // namespace shop::money

using Cents = long;

int Shop::total(int n) const {
  auto twice = [](int x) { return x * 2; };
  return helper(n);
}

Shop::~Shop() {}

Shop::operator bool() const { return true; }

namespace {
static int helper(int n) { return n; }
}

extern "C" int start(void) { return 0; }
