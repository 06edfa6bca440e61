using System;

namespace Shop.Money
{
    /// <summary>What is bought.</summary>
    [Serializable]
    public class Cart<T> : Base<T>, INamed where T : new()
    {
        public Cart(int count) : base(count) { }

        public int Count { get; set; }

        public int Add(T item)
        {
            int Twice(int x) { return x * 2; }
            return this.Size() + Helper("größe");
        }

        private int Size() => 1;

        static int Helper(string s) { return 0; }

        public static bool operator ==(Cart<T> a, Cart<T> b) { return true; }

        public delegate int Check(int x);
    }

    interface INamed { string Name(); }

    struct Price { public long Cents; }

    enum State { Open, Paid }

    record Line(int Number);
}
