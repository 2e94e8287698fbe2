import { Transform } from 'node:stream'

const LINE_FEED = 10

/** Passes on whole lines alone: what two streams write into one file is then never mixed within a line. The rest comes with the end. */
export function wholeLines(): Transform {
  let rest: Buffer[] = []
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf(LINE_FEED) + 1
      if (end > 0) this.push(Buffer.concat([...rest.splice(0), chunk.subarray(0, end)]))
      if (end < chunk.length) rest.push(chunk.subarray(end))
      done()
    },
    flush(done) {
      const last = Buffer.concat(rest)
      rest = []
      done(null, last.length === 0 ? undefined : last)
    },
  })
}
