// Every client of MCP and A2A, untouched, at the address of a gateway with default settings: it lists, calls a free tool, is told a price
// in words, pays it, and has what it paid for.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WHAT_A_PERSON_NEEDS } from '../support/asking.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { type Connected, openInspector, protocolClients } from '../support/protocol-clients.ts'

let gateway: DefaultGateway
beforeAll(async () => {
  // Nothing of a test calls home.
  process.env['MCP_USE_ANONYMIZED_TELEMETRY'] = 'false'
  gateway = await startDefaultGateway()
})
afterAll(() => gateway?.close())

const PAGE = { url: 'https://sandbox.agent-gateway.test/tea/one' }

describe.each(protocolClients)('$name', ({ name, free, check, paid, connect }) => {
  const connected = async <T>(use: (client: Connected) => Promise<T>): Promise<T> => {
    const client = await connect(gateway.url)
    try {
      return await use(client)
    } finally {
      await client.close()
    }
  }

  it('lists, and calls free tools', () =>
    connected(async (client) => {
      const names = await client.list()
      expect(names).toContain(free)
      expect(names).toContain(paid)
      const answer = await client.call(free, { intent: 'demo' })
      expect(answer.isError, answer.text).toBe(false)
      expect(answer.text).toContain('This is a sample')
      const checked = await client.call(check, PAGE)
      expect(checked.isError, checked.text).toBe(false)
      expect(checked.text).toContain(PAGE.url)
    }))

  it('is told what a paid tool costs and, where the client has a place for a payment, has the page for it', () =>
    connected(async (client) => {
      const price = await client.call(paid, PAGE)
      expect(price.isError).toBe(true)
      for (const part of WHAT_A_PERSON_NEEDS) expect(price.text).toMatch(part)
      // What changes here is news for the guide.
      expect(client.pay === undefined, 'has no place for a payment').toBe(name === 'mcp-use')
      if (!client.pay) return
      const payment = await (await gateway.wallet())(price.required)
      const bought = await client.pay(paid, PAGE, payment)
      expect(bought.isError, bought.text).toBe(false)
      expect(bought.text).toContain('How green tea is steeped')
    }))
})

it('the Inspector finds no fault with the skills, nor with the digest of any of their files', async () => {
  const { run, close } = await openInspector()
  const method = ['--protocol-era', 'modern', '--method', 'skills/list', '--verify', '--require-digests']
  const { code, stdout, stderr } = await run('--cli', gateway.mcpUrl, ...method)
  await close()
  expect(code, stdout + stderr).toBe(0)
  expect(stderr).toMatch(/Verified [1-9]\d* skills and [1-9]\d* files: no conformance errors/)
})
