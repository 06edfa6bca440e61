# Definitions in Ruby files by Ruby's own parser, as JSON: {file: [[name, kind, line, last line], ...] or null}.
#
# Usage: ruby definitions.rb FILE...
# Names are dotted; a module counts as a class; what is in `class << self` is named under the class; of
# `def self.name` the name counts. A `def` right in a class or module is a method, another one a function.
# Null stands for a file that is no valid Ruby.

require "json"

def path_of(node)
  return "" unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

  case node.type
  when :COLON2 then [path_of(node.children[0]), node.children[1].to_s].reject(&:empty?).join(".")
  when :COLON3, :CONST then node.children[0].to_s
  else ""
  end
end

def named(node)
  case node.type
  when :CLASS, :MODULE then [path_of(node.children[0]), "class"]
  when :DEFN then [node.children[0].to_s, "function"]
  when :DEFS then [node.children[1].to_s, "function"]
  end
end

def visit(node, scope, in_class, found)
  return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

  name, kind = named(node)
  if name
    kind = "method" if kind == "function" && in_class
    scope += [name]
    in_class = kind == "class"
    found << [scope.join("."), kind, node.first_lineno, node.last_lineno]
  end
  node.children.each { |child| visit(child, scope, in_class, found) }
end

$VERBOSE = nil
answers = ARGV.to_h do |file|
  found = []
  visit(RubyVM::AbstractSyntaxTree.parse(File.read(file, encoding: "UTF-8")), [], false, found)
  [file, found.sort_by { |item| item[2] }]
rescue SyntaxError, ArgumentError, EncodingError
  [file, nil]
end
puts JSON.generate(answers)
