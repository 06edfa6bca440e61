# frozen_string_literal: true

module Shop
  # What is bought.
  class Cart < Base::Thing
    attr_reader :items

    # Adds.
    def add(item, *more)
      check(item)
      self.total + 1
    end

    def total = 1

    def self.open(name)
      new(name)
    end

    def ==(other) = true

    class << self
      def close; end
    end

    private def check(item)
      "größe"
    end
  end

  class Money::Cents; end
end

def helper(x)
  x
end
