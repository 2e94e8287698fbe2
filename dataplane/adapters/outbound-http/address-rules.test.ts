import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type AddressKind, judgeAddress } from './address-rules.ts'

const CASES: Readonly<Record<AddressKind, readonly string[]>> = {
  public: [
    '1.1.1.1',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '2606:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
  ],
  private: [
    '127.0.0.1',
    '127.255.255.254',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:10.0.0.1',
    '64:ff9b::10.0.0.1',
    'fd12:3456::1',
    'fec0::1',
    '2001:db8::1',
  ],
  never: [
    '169.254.169.254',
    '169.254.0.1',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    '0.0.0.0',
    '0.1.2.3',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::127.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::ffff:0.0.0.0',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '2002:7f00:1::1',
    '2001:0:4136:e378::1',
    '4000::1',
    'localhost',
    '',
  ],
}

describe('which addresses may be spoken to', () => {
  for (const [kind, addresses] of Object.entries(CASES))
    for (const address of addresses) it(`${kind}: ${address}`, () => expect(judgeAddress(address).kind).to.equal(kind))
})
