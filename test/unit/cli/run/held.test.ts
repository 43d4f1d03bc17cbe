import { describe, expect, it } from 'vitest'
import type { Client } from '../../../../src/cli/client.ts'
import { holdCapability } from '../../../../src/cli/run/held.ts'
import { Secret } from '../../../../src/lib/secret.ts'

const called = (host: string) => ({ host, port: 443, method: 'GET', path: '/' })

/** A gateway that narrows when it is told to, and remembers what it was asked. */
function createGateway() {
  const revoked: string[] = []
  const waiting: (() => void)[] = []
  const client = {
    url: 'http://gateway.test',
    async call(tool: { name: string }, input: { capability_id?: string; hosts?: readonly string[] }) {
      if (tool.name === 'gateway.egress.capabilities.revoke') return revoked.push(input.capability_id!)
      await new Promise<void>((resolve) => waiting.push(resolve))
      const [host] = input.hosts!
      return { capability_id: host, credential_id: null, capability: 'agw_cap_x', expires_at: '2100-01-01' }
    },
  } as unknown as Client
  const holder = holdCapability(client, new Secret('agw_cap_own'), { label: 'run test' })
  return { holder, revoked, waiting, answer: () => waiting.splice(0).forEach((go) => go()) }
}

describe('what a run holds', () => {
  it('ends what is being made when the run ends, too, and counts it', async () => {
    const { holder, revoked, answer } = createGateway()
    const first = holder.find(called('a.example.com'))
    answer()
    await first
    const late = holder.find(called('b.example.com'))
    const ending = holder.end()
    answer()
    expect(await ending).toBe(0)
    await late
    expect(holder.made().map(({ id }) => id)).toEqual(['a.example.com', 'b.example.com'])
    expect(revoked).toEqual(['a.example.com', 'b.example.com'])
  })

  it('makes nothing for a request that comes when the run is over', async () => {
    const { holder, waiting } = createGateway()
    expect(await holder.end()).toBe(0)
    await expect(holder.find(called('a.example.com'))).rejects.toThrow('This run is over.')
    expect(waiting).toEqual([])
  })
})
