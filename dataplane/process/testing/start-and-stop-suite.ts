/** The suite that every part with a start and a stop passes (`process/README.md`). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { it } from 'mocha'
import type { Running } from '../running.ts'

export interface StartAndStopSubject {
  /** Starts the part, each time at the same place: the same ports, the same directory. */
  start(): Promise<Running>
  /** Has a late step of the start fail, until the answer is called. */
  breakStart(): Promise<() => Promise<void>>
}

/** Resources of the process that a part may hold: servers, pipes, threads and timers. */
const HELD = new Set(['TCPServerWrap', 'PipeServerWrap', 'MessagePort', 'Worker', 'Timeout'])
const GONE_WITHIN_MS = 5_000

export function testStartAndStop(name: string, subject: () => StartAndStopSubject): void {
  it(`${name}: stopped twice, also at once, is stopped once, and leaves nothing behind`, async function () {
    this.timeout(60_000)
    await nextTurn() // the timer of the test itself is there by then
    const before = heldResources()
    const running = await subject().start()
    const first = running.stop()
    expect(running.stop()).to.equal(first)
    await first
    await running.stop()
    await untilGone(before)
  })

  it(`${name}: a start that fails half-way leaves nothing behind, and the next one works`, async function () {
    this.timeout(60_000)
    await nextTurn() // the timer of the test itself is there by then
    const mend = await subject().breakStart()
    const before = heldResources()
    const failed = await subject()
      .start()
      .catch((error: unknown) => error)
    expect(failed).to.be.an('error')
    await untilGone(before)
    await mend()
    await (await subject().start()).stop()
  })

  it(`${name}: a second start at the same place is refused, and does not disturb the first`, async function () {
    this.timeout(60_000)
    await nextTurn() // the timer of the test itself is there by then
    const running = await subject().start()
    const held = heldResources()
    const second = await subject()
      .start()
      .catch((error: unknown) => error)
    expect(second).to.be.an('error')
    await untilGone(held)
    await running.stop()
  })
}

function heldResources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter(kind => HELD.has(kind))
    .sort()
}

async function untilGone(before: readonly string[]): Promise<void> {
  const untilMs = Date.now() + GONE_WITHIN_MS
  while (heldResources().length > before.length && Date.now() < untilMs) await new Promise(resolve => setTimeout(resolve, 20))
  expect(heldResources().length, `left: ${heldResources()}, before: ${before}`).to.be.at.most(before.length)
}
