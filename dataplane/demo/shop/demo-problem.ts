/** A problem that ends the demo; its message says the next step. */
export class DemoProblem extends Error {}
