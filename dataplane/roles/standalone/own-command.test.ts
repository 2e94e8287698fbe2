import { expect } from 'chai'
import { describe, it } from 'mocha'
import { ownCommand } from './own-command.ts'

describe('the command by which the program is called', () => {
  it('is the launcher of a checkout, from where one is', () => {
    expect(ownCommand('/home/me/logpipeline/dataplane/main.ts', '/home/me/logpipeline')).to.equal('hack/logpipeline')
    expect(ownCommand('/home/me/logpipeline/dataplane/main.ts', '/home/me')).to.equal('logpipeline/hack/logpipeline')
  })

  it('is that of npm where a package is installed, and the name alone in an image', () => {
    expect(ownCommand('/home/me/app/node_modules/logpipeline/dist/dataplane/main.js', '/home/me/app')).to.equal('npx logpipeline')
    expect(ownCommand('/app/dist/dataplane/main.js', '/')).to.equal('logpipeline')
  })
})
