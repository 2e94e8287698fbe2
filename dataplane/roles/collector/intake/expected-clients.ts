/** One end that requests come from, such as a connection. */
export class Client {
  /** Belongs to `ExpectedClients`: the round in which it was answered last, and how many requests are expected to follow. */
  round = 0
  due = 0
}

/** Clients that were just answered, and are likely to come again at once, as those do that send one request after the other. */
export class ExpectedClients {
  #round = 0
  #missing = 0
  #expected = 0
  #comeAgain = false

  /** Each of these has been answered a request; nobody else is expected from now on. */
  expect(clients: readonly (Client | undefined)[]): void {
    this.#comeAgain = 2 * this.#missing < this.#expected
    this.#round++
    this.#missing = 0
    for (const client of clients) {
      if (client === undefined) continue
      client.due = client.round === this.#round ? client.due + 1 : 1
      client.round = this.#round
      this.#missing++
    }
    this.#expected = this.#missing
  }

  /** A request of this client has come. */
  arrived(client: Client | undefined): void {
    if (client === undefined || client.round !== this.#round || client.due === 0) return
    client.due--
    this.#missing--
  }

  /** Whether most of those before have come again by the time that the next ones were answered: these will, too, as a rule. */
  get comeAgain(): boolean {
    return this.#comeAgain
  }

  /** Whether each has come again. */
  get areHere(): boolean {
    return this.#missing === 0
  }
}
