// The skills folder as other programs find it: over HTTP, byte for byte as it is in the repository.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const root = new URL('../../skills/', import.meta.url)
/** The path as it is: `fetch` would resolve the dots itself. */
const readRaw = (path: string) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(gateway.baseUrl)
    request({ hostname, port, path }, (res) => {
      textOf(res).then((text) => resolve({ status: res.statusCode, text }), reject)
    })
      .on('error', reject)
      .end()
  })
const read = (path: string) => fetch(gateway.baseUrl + path)

interface Index {
  readonly $schema: string
  readonly skills: readonly {
    readonly name: string
    readonly type: string
    readonly url: string
    readonly digest: string
  }[]
}

it.each(['/skills', '/skills/index.json', '/.well-known/agent-skills/index.json'])(
  'lists every skill of the folder at %s, with an address and the digest of what is there',
  async (path) => {
    const index = (await (await read(path)).json()) as Index
    expect(index.$schema).toBe('https://schemas.agentskills.io/discovery/0.2.0/schema.json')
    expect(index.skills.map(({ name }) => name)).toEqual(readdirSync(root).sort())
    for (const { name, type, url, digest } of index.skills) {
      expect(type).toBe('skill-md')
      const answer = await fetch(url)
      expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      const bytes = Buffer.from(await answer.arrayBuffer())
      expect(bytes.equals(readFileSync(new URL(`${name}/SKILL.md`, root)))).toBe(true)
      expect(digest).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
    }
  },
)

it.each([
  '/skills/../package.json',
  '/skills/%2e%2e/package.json',
  '/skills/..%2fpackage.json',
  '/skills/pay-for-a-web-page/../../package.json',
  '/skills/pay-for-a-web-page',
  '/skills/pay-for-a-web-page/skill.md',
  '/skills/nothing/SKILL.md',
])('serves nothing but those files: %s', async (path) => {
  const { status, text } = await readRaw(path)
  expect(status).toBe(404)
  expect(text).not.toContain('"dependencies"')
})

it('is named in the catalogue and on the agent card', async () => {
  const catalogue = (await (await read('/v1/capabilities')).json()) as { discovery: Record<string, string> }
  expect(catalogue.discovery['skills']).toBe(`${gateway.baseUrl}/skills`)
  const card = (await (await read('/.well-known/agent-card.json')).json()) as {
    capabilities: { extensions: { uri: string; required?: boolean }[] }
  }
  const index = `${gateway.baseUrl}/.well-known/agent-skills/index.json`
  expect(card.capabilities.extensions.find(({ uri }) => uri === index)).toBeDefined()
})
