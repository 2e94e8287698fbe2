import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import { DISTRIBUTED, messageOf, object, pipelineObject, pod, running, SPEC, statusOf, summary } from '../testing/status-of.ts'

const TYPE = 'DisruptionBudgetsReady'

function budget(component: string, conditions: readonly object[] = []): KubernetesObject {
  const found = object('PodDisruptionBudget', `shop-${component}`, { status: { conditions } })
  return { ...found, metadata: { ...found.metadata, labels: { 'app.kubernetes.io/component': component } } }
}
const other = (name: string, selector?: object) => object('PodDisruptionBudget', name, { spec: selector === undefined ? {} : { selector } })
const look = (...objects: readonly KubernetesObject[]) =>
  statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED), pod('collector', {}), pod('bridge', {}), ...objects])

describe('PodDisruptionBudgets of a LogPipeline', () => {
  it('are not spoken of in mode AllInOne, which is one pod', () => {
    expect(summary(statusOf([pipelineObject({ mode: 'AllInOne' }), other('own', {})]))).not.to.have.property(TYPE)
  })

  it('are well where each pod has one', () => {
    const status = look(budget('collector'), other('elsewhere', { matchLabels: { app: 'x' } }), other('nothing'))
    expect(summary(status)).to.include({ Ready: 'True Ready', [TYPE]: 'True Respected' })
  })

  it('that cannot count their pods are told in the words of Kubernetes; the pods serve all the same', () => {
    const condition = { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'found no controllers for pod "debug"' }
    const status = look(budget('collector', [condition]))
    expect(summary(status)).to.include({ Ready: 'True Ready', Stalled: 'False Settled', [TYPE]: 'False SyncFailed' })
    expect(messageOf(status, TYPE)).to.contain('PodDisruptionBudget shop-collector: found no controllers for pod "debug"')
  })

  it('beside one of somebody else that selects the same pods are told, with its name: neither lets a pod go', () => {
    for (const selector of [{}, { matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: ['collector'] }] }]) {
      const status = look(budget('collector'), other('own', selector))
      expect(summary(status)).to.include({ Ready: 'True Ready', [TYPE]: 'False SeveralBudgets' })
      expect(messageOf(status, TYPE)).to.contain('seen that PodDisruptionBudget own selects pods of collector besides')
    }
  })

  it('leave pods that have none to those of others', () => {
    const status = look(budget('collector'), other('own', { matchLabels: { 'app.kubernetes.io/component': 'bridge' } }))
    expect(summary(status)).to.include({ [TYPE]: 'True Respected' })
  })
})
