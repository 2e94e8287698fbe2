import { expect } from 'chai'
import { describe, it } from 'mocha'
import { uploadCommand } from './upload-command.ts'

describe('the command that uploads', () => {
  const common = { address: 'http://localhost:3000/api/upload', data: '@app.log.ndjson', tenant: undefined, username: null }

  it('is short where the console looks at all tenants and asks for no password', () => {
    expect(uploadCommand(common)).to.equal('curl http://localhost:3000/api/upload --data-binary @app.log.ndjson')
  })

  it('names the tenant that the console looks at', () => {
    expect(uploadCommand({ ...common, tenant: 'shop' })).to.equal(
      "curl -H 'x-service-tenant-id: shop' http://localhost:3000/api/upload --data-binary @app.log.ndjson",
    )
  })

  it('names the user, so that curl asks for the password', () => {
    expect(uploadCommand({ ...common, username: 'ops' })).to.contain('curl -u ops http:')
    expect(uploadCommand({ ...common, username: "o'n call" })).to.contain(`curl -u 'o'\\''n call' http:`)
  })
})
