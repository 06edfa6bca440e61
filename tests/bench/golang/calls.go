// Calls in Go packages as Go's own type checker sees them.
// Usage: go run calls.go FOLDER…     (each folder is one package; what it imports must be found by `go build`)
// Prints one JSON array a line: [file, line, column, target file, target line] of each name that is called;
// lines and columns 1-based, columns in bytes; the target is where the called function, method or type is
// declared. Calls of built-in functions, of function values and of what is declared nowhere are left out.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
)

// callee is the name that a call calls.
func callee(call *ast.CallExpr) *ast.Ident {
	function := call.Fun
	for {
		switch known := function.(type) {
		case *ast.ParenExpr:
			function = known.X
		case *ast.IndexExpr:
			function = known.X
		case *ast.IndexListExpr:
			function = known.X
		case *ast.SelectorExpr:
			return known.Sel
		case *ast.Ident:
			return known
		default:
			return nil
		}
	}
}

// target is where what a name stands for is declared, if it is a function, a method or a type.
func target(used types.Object) token.Pos {
	switch known := used.(type) {
	case *types.Func:
		return known.Origin().Pos()
	case *types.TypeName:
		return known.Pos()
	}
	return token.NoPos
}

func main() {
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "source", nil)
	out := json.NewEncoder(os.Stdout)
	for _, folder := range os.Args[1:] {
		found, err := build.ImportDir(folder, 0)
		if err != nil {
			continue
		}
		var parsed []*ast.File
		for _, name := range found.GoFiles {
			if file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, 0); err == nil {
				parsed = append(parsed, file)
			}
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: imports, Error: func(error) {}, FakeImportC: true}
		_, _ = config.Check(found.ImportPath, files, parsed, info)
		for _, file := range parsed {
			ast.Inspect(file, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok {
					if name := callee(call); name != nil && info.Uses[name] != nil {
						at, to := files.Position(name.Pos()), files.Position(target(info.Uses[name]))
						if to.IsValid() {
							_ = out.Encode([]any{at.Filename, at.Line, at.Column, to.Filename, to.Line})
						}
					}
				}
				return true
			})
		}
	}
}
