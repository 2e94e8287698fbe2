import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NEXT_IMAGE, PRODUCT_IMAGE } from '../e2e/testing/product-image.ts'

const SCRIPT = resolve(import.meta.dirname, 'kind.sh')
/** Writes down how it is called. */
const RECORDER = `#!/bin/sh
echo "\${0##*/} $*" >>"$CALLS"
case "\${0##*/} $1" in
  "docker info") exit "\${DOCKER_INFO:-0}" ;;
  "kind get") echo "\${KIND_CLUSTERS:-}" ;;
esac
`

describe('hack/kind.sh', function () {
  this.timeout(20_000)
  const dir = mkdtempSync(join(tmpdir(), 'fake-kind-'))
  const kubeconfig = join(dir, 'kubeconfig')
  before(() => {
    mkdirSync(join(dir, 'both'))
    mkdirSync(join(dir, 'docker-alone'))
    for (const program of ['both/docker', 'both/kind', 'docker-alone/docker']) {
      writeFileSync(join(dir, program), RECORDER)
      chmodSync(join(dir, program), 0o755)
    }
  })
  after(() => rmSync(dir, { recursive: true }))

  const call = (args: readonly string[], env: Readonly<Record<string, string>> = {}, programs = 'both') => {
    const CALLS = join(dir, 'calls')
    rmSync(CALLS, { force: true })
    const PATH = `${join(dir, programs)}:/usr/bin:/bin`
    const { status, stdout, stderr } = spawnSync('bash', [SCRIPT, ...args], {
      encoding: 'utf8',
      env: { PATH, CALLS, KIND_KUBECONFIG: kubeconfig, ...env },
    })
    return { status, stdout, stderr, calls: existsSync(CALLS) ? readFileSync(CALLS, 'utf8').trim().split('\n') : [] }
  }
  const IMAGES = `${PRODUCT_IMAGE} ${NEXT_IMAGE}`
  const BUILT = [`docker build --tag ${PRODUCT_IMAGE} .`, `docker tag ${IMAGES}`, `kind load docker-image ${IMAGES} --name logpipeline`]

  it('creates the cluster, builds the image, loads it under both names, and says how to go on', () => {
    const { status, stdout, calls } = call([])
    expect(status).to.equal(0)
    expect(calls).to.deep.equal([
      'docker info',
      'kind get clusters',
      `kind create cluster --name logpipeline --kubeconfig ${kubeconfig} --wait 5m`,
      ...BUILT,
    ])
    expect(stdout).to.contain(`REAL_KUBERNETES_NODE=${kubeconfig} npm run test:cluster`)
  })

  it('takes a cluster that is there, and the new image into it', () => {
    const { status, calls } = call(['up'], { KIND_CLUSTERS: 'logpipeline' })
    expect(status).to.equal(0)
    expect(calls.slice(2)).to.deep.equal([`kind export kubeconfig --name logpipeline --kubeconfig ${kubeconfig}`, ...BUILT])
  })

  it('takes the name and the Kubernetes that it is told', () => {
    const { calls } = call(['up'], { KIND_CLUSTER: 'mine', KIND_NODE_IMAGE: 'kindest/node:v1.33.4' })
    expect(calls[2]).to.equal(`kind create cluster --name mine --kubeconfig ${kubeconfig} --wait 5m --image kindest/node:v1.33.4`)
  })

  it('deletes cluster and kubeconfig', () => {
    writeFileSync(kubeconfig, '')
    expect(call(['down'])).to.deep.include({ status: 0, calls: [`kind delete cluster --name logpipeline --kubeconfig ${kubeconfig}`] })
    expect(existsSync(kubeconfig)).to.equal(false)
  })

  it('says what is missing, and ends with 69 (unavailable)', () => {
    expect(call([], { DOCKER_INFO: '1' })).to.deep.include({ status: 69, calls: ['docker info'] })
    const { status, stderr } = call([], {}, 'docker-alone')
    expect(status).to.equal(69)
    expect(stderr).to.contain('kind is not installed')
  })

  it('shows its usage for anything else', () => {
    const { status, stderr } = call(['sideways'])
    expect(status).to.equal(64)
    expect(stderr).to.contain('Usage: hack/kind.sh')
  })
})
