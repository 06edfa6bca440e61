package api

// Server answers requests of the shop.
type Server struct {
	addr string
}

func NewServer(addr string) *Server {
	return &Server{addr: addr}
}

func (s *Server) Run() error {
	return s.listen()
}

func (s *Server) listen() error {
	return nil
}

// Close ends all connections.
func (s *Server) Close() error {
	return nil
}
