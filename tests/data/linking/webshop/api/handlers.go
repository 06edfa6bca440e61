package api

type OrderHandler struct{}

func (h *OrderHandler) ServeOrder(id string) (int, error) {
	return writeJSON(200, id)
}

func (h OrderHandler) Validate(id string) bool {
	return id != ""
}

func writeJSON(status int, body any) (int, error) {
	return status, nil
}
