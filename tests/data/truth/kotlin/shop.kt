@file:Suppress("unused")

package shop.money

import kotlin.math.max as most

/** What is bought. */
@Serializable
data class Cart<T : Any>(
    val items: List<T> = listOf(),
    private val check: (T) -> Boolean = { true },
) : Base<T>(), Open by Closed, Comparable<Cart<*>> {
    private var closed = false
        set(value) {
            fun later() = field
            field = value
        }

    init {
        fun first(item: T) = item
        items.forEach { first(it) }
    }

    constructor(item: T, vararg more: T) : this(listOf(item) + more)

    override fun compareTo(other: Cart<*>): Int {
        tailrec fun depth(n: Int): Int = if (n <= 0) 0 else depth(n - 1)
        return depth(items.size) - other.items.size
    }

    suspend inline fun <reified R> all(crossinline block: suspend (T) -> R): List<R> =
        items.map { block(it) }

    operator fun get(at: Int) = items[at]

    fun `what it is`() = """fun no() { class Neither } $closed ${ items.size }"""

    inner class Line {
        fun text() = this@Cart.toString()
    }

    companion object Makers {
        @JvmStatic fun <T : Any> of(item: T) = Cart(listOf(item))
        private const val MAX = 3
    }

    interface Closed {
        fun open()
        fun close() {}
        companion object {
            val none = object : Closed {
                override fun open() { most(1, 2) }
            }
        }
    }
}

fun interface Rule {
    fun holds(): Boolean
}

@JvmInline
value class Cents(val n: Int) {
    infix fun plus(o: Cents) = Cents(n + o.n)
}

sealed interface Event {
    data object Paid : Event
    class Failed(val why: String) : Event
}

enum class State(val short: Char) {
    OPEN('o') {
        override fun next() = PAID
    },
    PAID('p') {
        override fun next() = this
    },
    ;

    abstract fun next(): State
}

@Target(AnnotationTarget.CLASS)
@Retention(AnnotationRetention.SOURCE)
annotation class Slow

typealias Prices = Map<String, Cents>

object Registry {
    val all by lazy { mutableListOf<Cart<*>>() }
    fun find(name: String): Cart<*>? = all.firstOrNull { it.toString() == name }
}

fun String.shout(): String = uppercase() + "!"
fun <K, V> Map<K, V>.first(): Pair<K, V> where K : Comparable<K>, V : Any {
    for ((key, value) in this) return key to value
    throw NoSuchElementException("no 'fun' here")
}

private fun finish(final: Boolean) {
    var open = final
    while (!open) { open = true }
    val later = suspend { open }
    fun inner() {
        class Local {
            fun deep() = later
        }
    }
    when {
        final -> fun(n: Int): Int { return n }
        else -> { x: Int -> x }
    }
}
