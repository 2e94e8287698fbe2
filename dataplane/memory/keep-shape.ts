const kept: object[] = []

/**
 * Keeps an object of a class that work makes in bursts. V8 forgets the shape of objects when a collection that gives memory back finds none of them alive, and
 * with the shape goes all compiled code that knows it.
 */
export function keepShape(object: object): void {
  kept.push(object)
}
