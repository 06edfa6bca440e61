// Definitions of Go files as Go's own parser sees them.
// Usage: go run definitions.go FOLDER|FILE…
// Prints one JSON object a line: {"file": …, "definitions": [[qualname, kind, first line, last line], …]}, the
// definitions in text order, lines 1-based; files that the parser refuses are left out.
//
// function: a declaration. method: one with a receiver, named Type.Method. lambda: a function literal that is the
// only value of one name. method_sig: a method in an interface. struct, interface, type: a declared type; a lone
// one begins at the word `type`. Names inside functions, types and named literals are named under these.
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

type definition struct {
	name, kind  string
	first, last int
}

func (d definition) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{d.name, d.kind, d.first, d.last})
}

type reader struct {
	files *token.FileSet
	found []definition
}

func (r *reader) add(scope []string, name, kind string, first, last token.Pos) []string {
	path := append(append([]string{}, scope...), name)
	r.found = append(r.found, definition{
		strings.Join(path, "."), kind, r.files.Position(first).Line, r.files.Position(last - 1).Line,
	})
	return path
}

// receiver is the name of a method's type.
func receiver(list *ast.FieldList) string {
	kind := list.List[0].Type
	for {
		switch known := kind.(type) {
		case *ast.StarExpr:
			kind = known.X
		case *ast.ParenExpr:
			kind = known.X
		case *ast.IndexExpr:
			kind = known.X
		case *ast.IndexListExpr:
			kind = known.X
		case *ast.Ident:
			return known.Name
		default:
			return "?"
		}
	}
}

func (r *reader) read(node ast.Node, scope []string) {
	if node == nil {
		return
	}
	ast.Inspect(node, func(inner ast.Node) bool {
		switch known := inner.(type) {
		case *ast.FuncDecl:
			under, kind := scope, "function"
			if known.Recv != nil && len(known.Recv.List) > 0 {
				under, kind = append(append([]string{}, scope...), receiver(known.Recv)), "method"
			}
			path := r.add(under, known.Name.Name, kind, known.Pos(), known.End())
			r.read(known.Type, path)
			if known.Body != nil {
				r.read(known.Body, path)
			}
			return false
		case *ast.GenDecl:
			for _, spec := range known.Specs {
				if typed, ok := spec.(*ast.TypeSpec); ok {
					first := typed.Pos()
					if !known.Lparen.IsValid() {
						first = known.Pos()
					}
					r.typed(typed, first, scope)
				} else {
					r.read(spec, scope)
				}
			}
			return false
		case *ast.InterfaceType:
			r.methods(known, scope)
			return false
		case *ast.ValueSpec:
			if len(known.Names) == 1 && len(known.Values) == 1 {
				return !r.closure(known.Names[0], known.Values[0], known, scope)
			}
		case *ast.AssignStmt:
			if known.Tok == token.DEFINE && len(known.Lhs) == 1 && len(known.Rhs) == 1 {
				return !r.closure(known.Lhs[0], known.Rhs[0], known, scope)
			}
		}
		return true
	})
}

func (r *reader) closure(name, value ast.Expr, whole ast.Node, scope []string) bool {
	literal, isFunction := value.(*ast.FuncLit)
	named, isName := name.(*ast.Ident)
	if !isFunction || !isName {
		return false
	}
	path := r.add(scope, named.Name, "lambda", whole.Pos(), whole.End())
	r.read(literal.Type, path)
	r.read(literal.Body, path)
	return true
}

func (r *reader) typed(spec *ast.TypeSpec, first token.Pos, scope []string) {
	kind := "type"
	if !spec.Assign.IsValid() {
		switch spec.Type.(type) {
		case *ast.StructType:
			kind = "struct"
		case *ast.InterfaceType:
			kind = "interface"
		}
	}
	path := r.add(scope, spec.Name.Name, kind, first, spec.End())
	if spec.TypeParams != nil {
		r.read(spec.TypeParams, path)
	}
	r.read(spec.Type, path)
}

func (r *reader) methods(kind *ast.InterfaceType, scope []string) {
	for _, field := range kind.Methods.List {
		if _, ok := field.Type.(*ast.FuncType); ok && len(field.Names) == 1 {
			r.read(field.Type, r.add(scope, field.Names[0].Name, "method_sig", field.Pos(), field.Type.End()))
		} else {
			r.read(field.Type, scope)
		}
	}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, root := range os.Args[1:] {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
				return nil
			}
			r := &reader{files: token.NewFileSet()}
			file, problem := parser.ParseFile(r.files, path, nil, parser.SkipObjectResolution)
			if problem == nil {
				r.read(file, nil)
				_ = out.Encode(map[string]any{"file": path, "definitions": r.found})
			}
			return nil
		})
	}
}
