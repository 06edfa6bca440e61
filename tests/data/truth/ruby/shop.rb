# frozen_string_literal: true

require "json"

module Shop; VERSION = "1"; end

class Shop::Cart < Struct.new(:items)
  LINE = <<~TEXT.freeze
    class NoClass
      def no_method
    end
  TEXT

  Price = Struct.new(:amount) do
    def to_s = "#{amount} €"

    def <=>(other)
      amount <=> other.amount
    end
  end

  class << self
    attr_reader :open

    def of(*items) = new(items)

    private

    def check!(item)
      raise ArgumentError, "no #{item}" unless item
    end
  end

  def self.empty?; true; end

  def items=(items)
    @items = items.map do |item|
      item.is_a?(Hash) ? item : { name: item }
    end
  end

  def [](name) items.find { |item| item[:name] == name } end

  private def total(größe = 1, *rest, key: %w[def a end], **more, &block)
    sum = 0
    items.each { |item| sum += item[:price] if block&.call(item) }
    def later
      "def"
    end
    sum
  rescue KeyError => error
    warn error
    raise
  ensure
    later
  end

  def !; false; end
  def +(other) = self
  def -@
    self
  end

  module ::Toplevel
    module Deep
      class Error < StandardError; end
      def self.class() = nil
    end
  end

  if RUBY_VERSION >= "3"
    def end? = true
  else
    def end?
      begin
        true
      end while false
    end
  end

  define_method(:dynamic) { 1 }
end

def helper(cart) cart.items.size unless cart.nil? end

BEGIN { def first_of_all; end }

obj = Object.new
def obj.alone
  :"def x; end"
end

=begin
def commented
end
=end

class A; class B; def c; def d; end; end; end; end

__END__
def behind
end
