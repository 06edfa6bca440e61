import React, { useState } from "react";

type Props = { name: string; onClick?: () => void };

export const View: React.FC<Props> = ({ name, onClick }) => {
  const [count, setCount] = useState<number>(0);
  const click = () => setCount(count + 1);
  return (
    <div onClick={click}>
      Hello {name}
      <Item key={1} render={() => <b />} />
    </div>
  );
};

export default function Item<T>({ key }: { key: T }) {
  return <>{helper(key)}</>;
}

function helper(x: unknown) {
  return <ns.Tag>{String(x)}</ns.Tag>;
}
