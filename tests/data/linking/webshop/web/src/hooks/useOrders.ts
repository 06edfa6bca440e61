import { fetchOrders } from "../api/orders";

export function useOrders() {
  const load = async () => fetchOrders(undefined as never);
  return { load };
}
