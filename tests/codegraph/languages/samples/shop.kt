package shop.money

/** What is bought. */
open class Cart<T>(val limit: Int) : Base<T>(limit), Named {
    private val items = mutableListOf<T>()

    constructor() : this(10)

    /** Adds. */
    fun add(item: T): Int {
        fun twice(x: Int) = x * 2
        return this.total() + helper(1)
    }

    override fun total(): Int = items.size

    companion object {
        fun open() = Cart<Int>(1)
    }
}

interface Named {
    fun total(): Int
}

enum class State {
    OPEN, PAID;

    fun label() = "größe"
}

object Registry {
    fun find() = 1
}

typealias Cents = Long

fun helper(x: Int) = x

fun String.shout(): String { return uppercase() }
