import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { answerTea } from '../../../src/sandbox/tea-api.ts'

const ask = (path: string) => answerTea(new URL(path, 'https://sandbox.agent-gateway.test'))

describe('the API that a seller of the sandbox can offer', () => {
  it.each([
    ['/tea/list', 200],
    ['/tea/brew/sencha?cups=2', 200],
    ['/tea/brew/sencha?cups=11', 400],
    ['/tea/brew/constructor', 404],
  ])('%s is %d', (path, status) => expect(ask(path)?.status).toBe(status))

  it('leaves other pages to the sample site', () => expect(ask('/article')).toBeUndefined())

  it.each([
    ['/list', '/tea/list'],
    ['/brew/{tea}', '/tea/brew/oolong?cups=3'],
  ])('answers %s as its own document says', (path, request) => {
    // A document is read as JSON by whoever sells it.
    const document = JSON.parse(JSON.stringify(ask('/tea/openapi.json')?.body)) as {
      paths: Record<string, { get: { responses: { 200: { content: Record<string, { schema: object }> } } } }>
    }
    const schema = document.paths[path]?.get.responses[200].content['application/json']?.schema ?? false
    expect(new Ajv2020().validate(schema, ask(request)?.body)).toBe(true)
  })
})
