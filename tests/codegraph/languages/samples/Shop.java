package shop;

/** What is bought. */
public class Shop<T> extends Base<T> implements Named, util.Closeable {
    private int count = 0;

    public Shop(int count) {
        this.count = count;
    }

    /**
     * Adds.
     */
    @Override
    public int add(T item) {
        helper("größe");
        return this.size();
    }

    private int size() { return count; }

    static void helper(String s) {}

    enum State { OPEN { void go() {} }, PAID; void go() {} }

    record Price(long cents) implements Named {
        Price { check(cents); }
        static void check(long c) {}
    }

    interface Named { String name(); default int n() { return 1; } }

    @interface Mark { int value(); }
}
