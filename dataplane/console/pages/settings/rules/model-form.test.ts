import { expect } from 'chai'
import { describe, it } from 'mocha'
import { chooseProvider, isModelChanged, modelChange, modelProblems, openModelForm } from './model-form.ts'

const stored = { provider: 'openai', model: 'gpt', apiKey: '****' } as const

describe('the form of the language model', () => {
  it('never shows the key, and keeps it unless another is typed', () => {
    const form = openModelForm(stored)
    expect(form).to.deep.equal({ provider: 'openai', model: 'gpt', baseUrl: '', apiKey: '', keepsKey: true })
    expect(isModelChanged(form, stored)).to.equal(false)
    expect(modelChange(form)).to.deep.equal({ provider: 'openai', model: 'gpt', baseUrl: null, apiKey: '****' })
    expect(modelChange({ ...form, apiKey: ' fresh ' })['apiKey']).to.equal('fresh')
  })

  it('the key of one provider does not go to another', () => {
    const other = chooseProvider(openModelForm(stored), 'anthropic', stored)
    expect(modelChange({ ...other, model: 'm' })['apiKey']).to.equal(null)
    expect(chooseProvider(other, 'openai', stored)).to.include({ keepsKey: true, model: 'gpt' })
  })

  it('says what a provider needs', () => {
    const form = openModelForm(stored)
    expect(modelProblems(form)).to.deep.equal({})
    expect(modelProblems({ ...form, provider: 'openai-compatible', model: ' ' })).to.have.all.keys('model', 'baseUrl')
    expect(modelProblems({ ...form, baseUrl: 'nothing' })).to.have.all.keys('baseUrl')
    expect(modelProblems({ ...form, provider: 'none', model: '' })).to.deep.equal({})
    expect(modelChange({ ...form, provider: 'none' })).to.deep.equal({ provider: 'none', model: '', baseUrl: null, apiKey: null })
  })
})
