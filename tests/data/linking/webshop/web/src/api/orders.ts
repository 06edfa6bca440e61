import { ApiClient, Order } from "./client";

export async function fetchOrders(client: ApiClient): Promise<Order[]> {
  return (await client.get("/orders")).json();
}

export const parseOrder = (raw: unknown): Order => raw as Order;

export function validate(order: Order): boolean {
  return order.total > 0;
}
