import { useOrders } from "../hooks/useOrders";

interface Props {
  title: string;
}

export function OrderList({ title }: Props) {
  const { load } = useOrders();
  return <ul title={title} onClick={load} />;
}

export const OrderRow = ({ id }: { id: string }) => <li>{formatTotal(id)}</li>;

function formatTotal(total: string): string {
  return total;
}
