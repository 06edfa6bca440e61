import { useCart } from "../hooks/useCart";

interface Props {
  open: boolean;
}

export default function Cart({ open }: Props) {
  const { addItem } = useCart();
  return <aside hidden={!open} onClick={() => addItem("1")} />;
}

function handleSubmit() {}
