package store

type Store struct {
	orders map[string]Order
}

type Order struct {
	ID    string
	Total int
}

func New() *Store {
	return &Store{orders: map[string]Order{}}
}

func (s *Store) Get(id string) (Order, bool) {
	order, ok := s.orders[id]
	return order, ok
}

func (s *Store) Save(order Order) {
	s.orders[order.ID] = order
}

func (s *Store) Close() error {
	return nil
}
