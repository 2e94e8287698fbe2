/** What keeps the demo from going on; its message says what to do. */
export class DemoProblem extends Error {}
