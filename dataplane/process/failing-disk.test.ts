import { expect } from 'chai'
import { describe, it } from 'mocha'
import { describeProblem } from './describe-problem.ts'
import { withFailingDisk } from './failing-disk.ts'

const failure = (message: string, fields: object) => Object.assign(new Error(message), fields)

describe('a start on a disk that fails', () => {
  for (const [error, told] of [
    [failure('ENOSPC: no space left on device, write', { code: 'ENOSPC' }), 'is full: make room on it'],
    [failure('EROFS: read-only file system, open', { code: 'EROFS' }), 'is mounted read-only'],
    [failure('EIO: i/o error, fdatasync', { code: 'EIO' }), 'cannot be read or written'],
    [failure('database or disk is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }), 'is full: make room on it'],
    [failure('disk I/O error', { code: 'ERR_SQLITE_ERROR', errcode: 778 }), 'cannot be read or written'],
  ] as const)
    it(`names the setting, the directory and the remedy, also where it is a cause (${error.message})`, () => {
      for (const seen of [error, new Error('the store failed', { cause: error })]) {
        const problem = describeProblem(withFailingDisk(seen, '/data'))
        expect(problem).to.match(/^DATA_DIR: the disk of \/data /)
        expect(problem).to.contain(told).and.to.contain(error.message)
        expect(problem.split(error.message)).to.have.length(2)
      }
    })

  it('leaves other errors as they are', () => {
    const error = failure('listen EADDRINUSE', { code: 'EADDRINUSE' })
    expect(withFailingDisk(error, '/data')).to.equal(error)
  })
})
