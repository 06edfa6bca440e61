export const useCart = () => {
  const addItem = (id: string) => id;
  return { addItem };
};

export function useDebounced<T>(value: T, wait: number): T {
  return value;
}
