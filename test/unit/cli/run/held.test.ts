import { describe, expect, it, vi } from 'vitest'
import type { Client } from '../../../../src/cli/client.ts'
import { CommandFailure, Exit } from '../../../../src/cli/exit.ts'
import { holdCapability, holdCredentials } from '../../../../src/cli/run/held.ts'
import { Secret } from '../../../../src/lib/secret.ts'

const called = (host: string) => ({ host, port: 443, method: 'GET', path: '/' })

/** A gateway that narrows when it is told to, and remembers what it was asked. */
function createGateway() {
  const revoked: string[] = []
  const waiting: ((failure?: Error) => void)[] = []
  const client = {
    url: 'http://gateway.test',
    async call(tool: { name: string }, input: { capability_id?: string; hosts?: readonly string[] }) {
      if (tool.name === 'gateway.egress.capabilities.revoke') return revoked.push(input.capability_id!)
      await new Promise<void>((resolve, reject) => {
        waiting.push((failure) => (failure ? reject(failure) : resolve()))
      })
      const [host] = input.hosts!
      return { capability_id: host, credential_id: null, capability: 'agw_cap_x', expires_at: '2100-01-01' }
    },
  } as unknown as Client
  const holder = holdCapability(client, new Secret('agw_cap_own'), { label: 'run test' })
  return {
    holder,
    revoked,
    waiting,
    answer: (failure?: Error) => waiting.splice(0).forEach((go) => go(failure)),
  }
}

describe('what a run holds', { timeout: 60_000 }, () => {
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

  it.each([
    ['may have made it', Exit.unreachable, 1],
    ['did not make it', Exit.failed, 0],
  ])(
    'ends the others where one is asked for without an answer; the gateway %s',
    async (_, exitCode, live) => {
      const { holder, revoked, answer } = createGateway()
      const first = ['a.example.com', 'b.example.com'].map((host) => holder.find(called(host)))
      answer()
      await Promise.all(first)
      const without = holder.find(called('c.example.com'))
      const late = expect(without).rejects.toThrow('given up')
      const ending = holder.end()
      await vi.waitFor(() => expect(revoked).toEqual(['a.example.com', 'b.example.com']), { timeout: 30_000 })
      answer(new CommandFailure(exitCode, 'given up'))
      expect(await ending).toBe(live)
      await late
      expect(revoked).toHaveLength(2)
    },
  )

  it('ends one whose answer comes while another has none', async () => {
    const { holder, revoked, waiting } = createGateway()
    const found = ['a.example.com', 'b.example.com'].map((host) => holder.find(called(host)))
    const failed = expect(found[0]).rejects.toThrow('given up')
    const ending = holder.end()
    waiting[1]!()
    await vi.waitFor(() => expect(revoked).toEqual(['b.example.com']), { timeout: 30_000 })
    waiting[0]!(new CommandFailure(Exit.unreachable, 'given up'))
    expect(await ending).toBe(1)
    await failed
  })

  it('makes nothing for a request that comes when the run is over', async () => {
    const { holder, waiting } = createGateway()
    expect(await holder.end()).toBe(0)
    await expect(holder.find(called('a.example.com'))).rejects.toThrow('This run is over.')
    expect(waiting).toEqual([])
  })
})

describe('which of several credentials of a host a run uses', () => {
  const stored = (credential_id: string, path_prefixes: readonly string[], settings = {}) => ({
    credential_id,
    label: '',
    provider: 'custom',
    hosts: ['api.example.com'],
    path_prefixes,
    methods: ['GET'],
    settings,
    revoked_at: null,
  })
  async function chosen(credentials: readonly unknown[], path: string) {
    const client = {
      url: 'http://gateway.test',
      async call({ name }: { name: string }, { credential_id }: { credential_id?: string }) {
        if (name === 'gateway.egress.credentials.list') return { credentials, next: null }
        return { capability_id: 'cap', credential_id, capability: 'agw_cap_x', expires_at: '2100-01-01' }
      },
    } as unknown as Client
    const holder = await holdCredentials(client, undefined, { label: 'run test' })
    return (await holder.find({ ...called('api.example.com'), path }))?.credentialId
  }

  it.each(['/v1/only%20b/z', '/v1/onl%79%20b/z?q=1', '/v1/%6fnly%20%62', '/%76%31/only%20b/'])(
    'is that whose path says most, however an escape is spelled: %s',
    async (path) => {
      expect(await chosen([stored('a', ['/']), stored('b', ['/v1/only%20b'])], path)).toBe('b')
    },
  )

  it('goes by the path without the placeholder, where the credential goes there', async () => {
    const settings = { placements: [{ in: 'path', at: 0, prefix: 'bot' }] }
    const credentials = [stored('a', ['/'], settings), stored('b', ['/sendMessage'], settings)]
    expect(await chosen(credentials, '/botAgentGatewayPlaceholder/send%4Dessage')).toBe('b')
  })

  it('counts no prefix that ends within a segment', async () => {
    const credentials = [stored('a', ['/', '/v1/onl']), stored('b', ['/v1'])]
    expect(await chosen(credentials, '/v1/only')).toBe('b')
  })

  it('is the first where none covers the request, so that the gateway says why', async () => {
    expect(await chosen([stored('a', ['/x']), stored('b', ['/y'])], '/z')).toBe('a')
  })
})
