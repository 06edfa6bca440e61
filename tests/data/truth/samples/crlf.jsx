export const A = () => <a />;
export class B {
  m() {
    return <A />;
  }
}
