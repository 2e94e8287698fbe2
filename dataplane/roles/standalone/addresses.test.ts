import { expect } from 'chai'
import { addressesOf, endpointsOf, type Listening, reachable } from './addresses.ts'

describe('the addresses of a standalone', () => {
  const listening: Listening = {
    collector: { addresses: { httpPort: 4318, grpcPort: 4317, healthPort: 13133 } },
    bridge: { port: 8080 },
    ticketing: { port: 18081 },
    features: { port: 6567 },
    scheduler: { port: 8083 },
    agent: { port: 8081 },
  }
  const doors = { dashboard: 3000, gateway: 8443 }

  it('are shown to people as they are set, the console of this machine as localhost', () => {
    const { dashboard, gateway, otlpGrpc, otlpHttp } = addressesOf('127.0.0.1', listening, doors)
    expect(dashboard).to.equal('http://localhost:3000')
    expect(gateway).to.equal('https://127.0.0.1:8443')
    expect(otlpGrpc).to.equal('127.0.0.1:4317')
    expect(otlpHttp).to.equal('http://127.0.0.1:4318')
    expect(addressesOf('::', listening, doors).dashboard).to.equal('http://[::]:3000')
  })

  it('lead parts to each other on this machine, whatever the host', () => {
    for (const host of ['0.0.0.0', '::', '']) expect(reachable(host)).to.equal('127.0.0.1')
    expect(endpointsOf('0.0.0.0', listening).BRIDGE_ENDPOINT).to.equal('http://127.0.0.1:8080')
    expect(endpointsOf('::1', listening).COLLECTOR_GRPC_ENDPOINT).to.equal('http://[::1]:4317')
  })
})
