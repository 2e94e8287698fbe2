import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import type { SMTPServerOptions } from 'smtp-server'
import type { ExternalTicket } from '../../../ports/incident-platform.ts'
import type { OutboundAddresses } from '../../../ports/outbound-addresses.ts'
import { TargetRefused } from '../../../ports/outbound-http.ts'
import { makeSelfSigned } from '../../../roles/gateway/tls/self-signed.ts'
import { buildRequest, ESCALATION } from '../testing/checkout-incident.ts'
import { type SmtpFixture, smtpError, startSmtp } from '../testing/smtp-fixture.ts'
import { createEmail } from './email.ts'
import { isAddressOf } from './mail.ts'
import { outcomeOfSmtpError } from './smtp-outcome.ts'

const LOOPBACK: OutboundAddresses = { resolve: async () => [{ address: '127.0.0.1', family: 4, isPublic: false }] }

describe('e-mail', () => {
  const closing: (() => Promise<void> | void)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  const open = async (options: SMTPServerOptions = {}, addresses = LOOPBACK) => {
    const smtp = await startSmtp(options)
    const email = createEmail({ addresses })
    closing.push(
      () => email.close(),
      () => smtp.close(),
    )
    const send = (overrides: Parameters<typeof buildRequest>[1] = {}, signal = new AbortController().signal) =>
      email.send(
        buildRequest('email', { ...overrides, fields: { host: 'mail.example.com', port: smtp.port, ...overrides.fields } }),
        signal,
      )
    return { smtp, email, send }
  }
  const headOf = ({ mails }: SmtpFixture, index: number) => mails[index]!.source.split('\r\n\r\n')[0]!.replaceAll(/\r\n[ \t]+/g, ' ')

  it('goes out as text and HTML, marked as written by a machine', async () => {
    const { smtp, send } = await open()
    expect(await send()).to.include({ kind: 'delivered' })
    expect(smtp.mails[0]!.recipients).to.deep.equal(['oncall@example.com'])
    const head = headOf(smtp, 0)
    expect(head).to.match(/^Subject: \[CRITICAL\] checkout: Payment declined/m)
    expect(head).to.match(/^Auto-Submitted: auto-generated/m)
    expect(head).to.match(/^Message-ID: <lp-7c1f9a52@example\.com>/m)
    expect(smtp.mails[0]!.source)
      .to.match(/Content-Type: text\/plain/)
      .and.match(/Content-Type: text\/html/)
  })

  it('says in its subject where an incident has no title', async () => {
    const { smtp, send } = await open()
    await send({ content: { title: ' ' } })
    expect(headOf(smtp, 0)).to.match(/^Subject: \[CRITICAL\] An incident without a title$/m)
  })

  it('has the same Message-ID at every attempt, and answers to the first mail of the incident', async () => {
    const { smtp, send } = await open()
    const opened = await send()
    const ticket = opened.kind === 'delivered' ? opened.ticket! : expect.fail()
    await send({ mayBeThere: true })
    await send({ event: 'resolve', ticket })
    await send({ event: 'resolve', ticket, mayBeThere: true })
    const idOf = (index: number) => /^Message-ID: (\S+)/m.exec(headOf(smtp, index))?.[1]
    expect(idOf(1)).to.equal(idOf(0))
    expect(idOf(3)).to.equal(idOf(2)).and.not.equal(idOf(0))
    expect(headOf(smtp, 2)).to.match(/^In-Reply-To: <lp-7c1f9a52@example\.com>/m)
    expect(headOf(smtp, 2)).to.match(/^References: <lp-7c1f9a52@example\.com>/m)
    expect(headOf(smtp, 2)).to.match(/^Subject: Re: \[CRITICAL\] checkout/m)
  })

  it('goes to those named for escalations as well, once each', async () => {
    const { smtp, send } = await open()
    await send({ event: 'escalate', fields: { escalationTo: 'lead@example.com', to: 'oncall@example.com, lead@example.com' } })
    expect(smtp.mails[0]!.recipients).to.deep.equal(['lead@example.com', 'oncall@example.com'])
    expect(headOf(smtp, 0)).to.match(/^Importance: High/m)
  })

  it('goes to those named for escalations where an escalation is the first that the mail server is told of', async () => {
    const { smtp, send } = await open()
    await send({ content: { severity: 'medium', change: ESCALATION }, fields: { escalationTo: 'lead@example.com' } })
    expect(smtp.mails[0]!.recipients).to.deep.equal(['lead@example.com', 'oncall@example.com'])
    expect(headOf(smtp, 0)).to.match(/^Importance: High/m)
  })

  it('lets no log text add a header', async () => {
    const { smtp, send } = await open()
    await send({ content: { title: 'a\r\nBcc: all@example.com\n\nbody' } })
    expect(headOf(smtp, 0)).to.not.match(/^Bcc/m)
    expect(smtp.mails[0]!.recipients).to.deep.equal(['oncall@example.com'])
  })

  it('uses a connection again', async () => {
    const { smtp, send } = await open()
    await send()
    await send({ event: 'acknowledge' })
    expect(smtp.connections).to.equal(1)
  })

  it('is tried again after 4xx, and never after 5xx', async () => {
    const onData =
      (code: number): NonNullable<SMTPServerOptions['onData']> =>
      (stream, _, done) => {
        stream.resume().on('end', () => done(smtpError(code, 'Not like this')))
      }
    expect(await (await open({ onData: onData(451) })).send()).to.include({ kind: 'retryable' })
    const refused = await (await open({ onData: onData(554) })).send()
    expect(refused).to.include({ kind: 'rejected' }).and.not.have.property('isTargetBroken')
    expect(refused).to.have.property('reason').that.includes('554 Not like this')
  })

  it('takes a certificate that nobody can trust for a matter of the settings, and says how to mend it', async () => {
    const addresses: OutboundAddresses = { resolve: async () => [{ address: '127.0.0.1', family: 4, isPublic: true }] }
    const nowMs = Date.now()
    const host = 'mail.example.com'
    const own = makeSelfSigned({ commonName: host, hosts: [host], notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + 60_000 })
    const { send } = await open({ ...own, secure: false }, addresses)
    const outcome = await send()
    expect(outcome).to.include({ kind: 'rejected', isTargetBroken: true })
    expect(outcome)
      .to.have.property('reason')
      .that.matches(/not trusted here .*NODE_EXTRA_CA_CERTS/)
  })

  const refusals: readonly { readonly says: string; readonly options: SMTPServerOptions; readonly is: object; readonly isNot: string }[] = [
    {
      says: 'a server that greets with 554 takes no mail at all',
      options: { onConnect: (_, done) => done(smtpError(554, 'No SMTP service for you')) },
      is: { kind: 'rejected', isTargetBroken: true, untilChanged: true },
      isNot: 'isAmbiguous',
    },
    {
      says: 'a server that is about to stop is down',
      options: { onConnect: (_, done) => done(smtpError(421, 'Going away')) },
      is: { kind: 'retryable', isTargetDown: true },
      isNot: 'isAmbiguous',
    },
    {
      says: 'a log-in that is missing is a matter of the settings',
      options: { onMailFrom: (_, __, done) => done(smtpError(530, 'Authentication required')) },
      is: { kind: 'rejected', isTargetBroken: true, untilChanged: true },
      isNot: 'isTargetDown',
    },
    {
      says: 'a sender that the server does not take is a matter of the settings',
      options: { onMailFrom: (_, __, done) => done(smtpError(550, 'Sender address rejected')) },
      is: { kind: 'rejected', isTargetBroken: true, untilChanged: true },
      isNot: 'isAmbiguous',
    },
    {
      says: 'recipients none of whom the server takes are a matter of the settings',
      options: { onRcptTo: (_, __, done) => done(smtpError(550, 'No such user here')) },
      is: { kind: 'rejected', isTargetBroken: true, untilChanged: true },
      isNot: 'isAmbiguous',
    },
    {
      says: 'a mail whose length the server refuses beforehand is never tried again',
      options: { onMailFrom: (_, __, done) => done(smtpError(552, 'Message size exceeds fixed limit')) },
      is: { kind: 'rejected' },
      isNot: 'isTargetBroken',
    },
    {
      says: 'a mail that is too large is never tried again',
      options: { onData: (stream, _, done) => void stream.resume().on('end', () => done(smtpError(552, 'Too large'))) },
      is: { kind: 'rejected' },
      isNot: 'isTargetBroken',
    },
    {
      says: 'greylisting of all recipients is tried again, and the server is not down',
      options: { onRcptTo: (_, __, done) => done(smtpError(450, 'Greylisted')) },
      is: { kind: 'retryable' },
      isNot: 'isTargetDown',
    },
  ]
  for (const { says, options, is, isNot } of refusals)
    it(says, async () =>
      expect(await (await open(options)).send())
        .to.include(is)
        .and.not.have.property(isNot),
    )

  it('is not ambiguous where the server never spoke: what is resolved meanwhile need not be told', () => {
    const error = Object.assign(new Error('Greeting never received'), { code: 'ETIMEDOUT', command: 'CONN' })
    expect(outcomeOfSmtpError(error, { isStopping: false, clean: text => text }))
      .to.include({ kind: 'retryable', isTargetDown: true })
      .and.not.have.property('isAmbiguous')
  })

  it('says which field is wrong where one side speaks TLS from the first byte and the other does not', async () => {
    expect(await (await open()).send({ fields: { secure: 'true' } })).to.deep.include({
      kind: 'rejected',
      reason:
        'The mail server did not take the mail: it does not speak TLS from the first byte: set the field secure to false, or the port to one where it does, such as 465',
      isTargetBroken: true,
    })
    const silent = Object.assign(new Error('Greeting never received'), { code: 'ETIMEDOUT', command: 'CONN' })
    expect(outcomeOfSmtpError(silent, { isStopping: false, clean: text => text }).reason).to.match(
      /the first byte, such as 465, needs the field secure$/,
    )
  })

  it('tells no form of the password, nor a part of one', async () => {
    const plain = Buffer.from('\0bot\0smtp-secret').toString('base64')
    for (const words of [`Unknown command AUTH PLAIN ${plain}`, `${'x'.repeat(232)} smtp-secret`]) {
      const { send } = await open({ onAuth: (_, __, done) => done(smtpError(535, words)) })
      expect(JSON.stringify(await send()))
        .to.not.include(plain)
        .and.not.match(/smtp-se/)
    }
  })

  it('names recipients that were refused', async () => {
    const onRcptTo: SMTPServerOptions['onRcptTo'] = ({ address }, _, done) =>
      done(address.startsWith('gone') ? smtpError(550, 'No such user') : null)
    const { send } = await open({ onRcptTo })
    expect(await send({ fields: { to: ['gone@example.com', 'oncall@example.com'] } }))
      .to.have.property('note')
      .that.includes('gone@example.com')
    expect(await send({ fields: { to: 'gone@example.com' } })).to.include({ kind: 'rejected' })
  })

  it('tells recipients that were put off again, and nobody twice', async () => {
    let isGreylisting = true
    const onRcptTo: SMTPServerOptions['onRcptTo'] = ({ address }, _, done) =>
      done(isGreylisting && address.startsWith('Ada') ? smtpError(450, 'Greylisted, try again') : null)
    const { smtp, send } = await open({ onRcptTo })
    const fields = { to: ['Ada <Ada@example.com>', 'oncall@example.com'] }
    const first = await send({ fields })
    expect(first).to.deep.include({ kind: 'delivered', unreached: ['Ada@example.com'] })
    expect(first).to.have.property('note').that.includes('Greylisted')
    const { ticket, unreached } = first as { ticket: ExternalTicket; unreached: readonly string[] }
    isGreylisting = false
    const second = await send({ fields, ticket, only: unreached })
    expect(second).to.include({ kind: 'delivered' }).and.not.have.any.keys('note', 'unreached')
    expect(smtp.mails.map(({ recipients }) => recipients)).to.deep.equal([['oncall@example.com'], ['Ada@example.com']])
    const [one, two] = [0, 1].map(index => headOf(smtp, index).match(/^(Message-ID|Subject): .*/gm))
    expect(one).to.have.length(2)
    expect(two).to.deep.equal(one)
    expect(headOf(smtp, 1)).to.not.match(/^In-Reply-To/m)
    expect(await send({ fields: { to: 'oncall@example.com' }, ticket, only: unreached })).to.deep.equal({ kind: 'delivered' })
    expect(isAddressOf('ada@xn--bcher-kva.example', 'Ada <Ada@Bücher.example>')).to.equal(true)
    expect(smtp.mails).to.have.length(2)
  })

  it('gives up a recipient that was put off and is then refused for good, and nothing else', async () => {
    const { send } = await open({ onRcptTo: (_, __, done) => done(smtpError(550, 'No such user')) })
    const fields = { to: ['ada@example.com', 'oncall@example.com'] }
    expect(await send({ fields, only: ['ada@example.com'] }))
      .to.include({ kind: 'rejected' })
      .and.not.have.property('isTargetBroken')
  })

  it('holds the target for broken when the log-in is refused, and never tells the password', async () => {
    const { send, email, smtp } = await open({ onAuth: ({ password }, _, done) => done(smtpError(535, `No ${password}`)) })
    const outcome = await send()
    expect(outcome).to.include({ kind: 'rejected', isTargetBroken: true })
    const fields = { port: smtp.port }
    const tested = await email.test(buildRequest('email', { fields }).target, new AbortController().signal)
    expect(tested).to.include({ ok: false })
    expect(JSON.stringify([outcome, tested])).to.not.include('smtp-secret')
  })

  describe('with a user and password, where the server offers no log-in', () => {
    const PUBLIC: OutboundAddresses = { resolve: async () => [{ address: '127.0.0.1', family: 4, isPublic: true }] }
    const own = () => {
      const [host, nowMs] = ['mail.example.com', Date.now()]
      return makeSelfSigned({ commonName: host, hosts: [host], notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + 60_000 })
    }
    const testOf = ({ smtp, email }: Awaited<ReturnType<typeof open>>) =>
      email.test(buildRequest('email', { fields: { host: 'mail.example.com', port: smtp.port } }).target, new AbortController().signal)
    const trusted = getCACertificates('default')
    afterEach(() => setDefaultCACertificates(trusted))

    it('sends nothing over the open network, and names the fields', async () => {
      const certificate = own()
      setDefaultCACertificates([certificate.cert])
      const opened = await open({ ...certificate, disabledCommands: ['AUTH'] }, PUBLIC)
      const outcome = await opened.send()
      expect(outcome).to.include({ kind: 'rejected', isTargetBroken: true })
      expect(outcome)
        .to.have.property('reason')
        .that.matches(/offers no log-in.* fields user and password/)
      expect(await testOf(opened)).to.include({ ok: false })
      expect(opened.smtp.mails).to.have.length(0)
      expect(await opened.send({ fields: { user: undefined } })).to.include({ kind: 'delivered' })
    })

    it('sends in a private network, and says so', async () => {
      const opened = await open({ disabledCommands: ['AUTH'] })
      expect(await opened.send()).to.include({
        kind: 'delivered',
        note: 'sent without the user and password, as the mail server offers no log-in',
      })
      expect(await testOf(opened))
        .to.have.property('message')
        .that.includes('offers no log-in')
      expect((await (await open()).send()).kind).to.equal('delivered')
    })

    it('tells no password where STARTTLS failed', async () => {
      const lines: string[] = []
      const answers: Readonly<Record<string, string>> = {
        EHLO: '250-mail\r\n250-STARTTLS\r\n250 AUTH PLAIN',
        STARTTLS: '454 not now',
        DATA: '354 go',
      }
      const server = createServer(socket => {
        socket.write('220 mail\r\n')
        createInterface({ input: socket }).on('line', line => {
          lines.push(line)
          const isText = lines.includes('DATA') && line !== '.' && line !== 'DATA' && line !== 'QUIT'
          if (!isText) socket.write(`${answers[line.split(' ')[0]!] ?? '250 ok'}\r\n`)
        })
      })
      await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
      const email = createEmail({ addresses: LOOPBACK })
      closing.push(
        () => void server.close(),
        () => email.close(),
      )
      const fields = { host: 'mail.example.com', port: (server.address() as AddressInfo).port }
      expect(await email.send(buildRequest('email', { fields }), new AbortController().signal))
        .to.include({ kind: 'delivered' })
        .and.have.property('note')
      expect(lines.filter(line => line.startsWith('AUTH'))).to.deep.equal([])
    })
  })

  it('is tested without a mail', async () => {
    const { smtp, email } = await open()
    const { target } = buildRequest('email', { fields: { port: smtp.port } })
    expect(await email.test(target, new AbortController().signal))
      .to.include({ ok: true })
      .and.have.property('message')
      .that.includes('takes the log-in')
    const anonymous = buildRequest('email', { fields: { port: smtp.port, user: undefined } }).target
    expect(await email.test(anonymous, new AbortController().signal))
      .to.have.property('message')
      .that.includes('answers; no mail')
    expect(smtp.mails).to.have.length(0)
  })

  it('is ambiguous when nobody says whether the mail was taken', async () => {
    const stop = new AbortController()
    const { send } = await open({ onData: stream => void stream.resume().on('end', () => stop.abort()) })
    expect(await send({}, stop.signal)).to.include({ kind: 'retryable', isAmbiguous: true })
  })

  it('connects to no address that is refused', async () => {
    const addresses = { resolve: async () => Promise.reject(new TargetRefused('mail.example.com (10.0.0.1) may not be spoken to')) }
    const { smtp, send } = await open({}, addresses)
    expect(await send()).to.include({ kind: 'rejected', isTargetBroken: true })
    expect(smtp.connections).to.equal(0)
  })

  it('sends nothing in the clear to a public address', async () => {
    const addresses: OutboundAddresses = { resolve: async () => [{ address: '127.0.0.1', family: 4, isPublic: true }] }
    const { smtp, send } = await open({ hideSTARTTLS: true }, addresses)
    expect(await send()).to.not.include({ kind: 'delivered' })
    expect(smtp.mails).to.have.length(0)
  })

  it('says that nothing was sent when the connection is refused', async () => {
    const { smtp, send } = await open()
    await smtp.close()
    const outcome = await send()
    expect(outcome).to.include({ kind: 'retryable', isTargetDown: true }).and.not.have.property('isAmbiguous')
    expect(outcome)
      .to.have.property('reason')
      .that.matches(/^The mail server does not answer: \S+:\d+: the connection is refused$/)
  })
})
