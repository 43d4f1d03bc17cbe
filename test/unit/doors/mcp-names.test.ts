import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DOT_REFUSING_CLIENTS } from '../../../src/data/dot-refusing-clients.ts'
import { chooseSpelling, createSessionIds, type NamesSetting } from '../../../src/doors/mcp/names.ts'

const nothing = { query: undefined, clientName: undefined, userAgent: undefined, session: undefined }

describe('the spelling a connection is shown', () => {
  it.each([
    ['nothing is known', 'auto', {}, 'dotted'],
    ['the operator wants underscores', 'portable', {}, 'portable'],
    ['the operator wants dots, the client refuses them', 'dotted', { clientName: 'claude-ai' }, 'dotted'],
    ['the connection overrules the operator', 'dotted', { query: 'portable' }, 'portable'],
    [
      'the connection overrules what is known of the client',
      'auto',
      { query: 'dotted', clientName: 'claude-ai' },
      'dotted',
    ],
    [
      'the connection asks to be recognised',
      'dotted',
      { query: 'auto', clientName: 'claude-ai' },
      'portable',
    ],
    ['the client refuses dots, by name', 'auto', { clientName: 'Claude-AI' }, 'portable'],
    ['the client refuses dots, by User-Agent', 'auto', { userAgent: 'GitHubCopilotCLI/1.0' }, 'portable'],
    ['another client', 'auto', { clientName: 'my-agent', userAgent: 'node' }, 'dotted'],
    ['initialize settled it', 'auto', { session: 'portable' }, 'portable'],
  ] as const)('when %s', (_, setting, hints, expected) => {
    expect(chooseSpelling(setting as NamesSetting, { ...nothing, ...hints })).toBe(expected)
  })

  it.each(DOT_REFUSING_CLIENTS)('is portable for $match', ({ match }) => {
    expect(match).toBe(match.toLowerCase())
    expect(chooseSpelling('auto', { ...nothing, clientName: `the ${match.toUpperCase()} 1.0` })).toBe(
      'portable',
    )
  })
})

describe('a session id', () => {
  const key = randomBytes(32)

  it.each(['dotted', 'portable'] as const)('carries %s to another replica with the same key', (spelling) => {
    const id = createSessionIds(key).issue(spelling)
    expect(id).toMatch(/^[!-~]+$/)
    expect(createSessionIds(key).read(id)).toBe(spelling)
  })

  it('is not accepted under another key', () => {
    expect(createSessionIds(randomBytes(32)).read(createSessionIds(key).issue('dotted'))).toBeUndefined()
  })

  it('is not accepted with any character changed', () => {
    const id = createSessionIds(key).issue('dotted')
    fc.assert(
      fc.property(fc.nat(id.length - 1), fc.constantFrom(...'dpAz09-_.'), (at, char) => {
        const changed = id.slice(0, at) + char + id.slice(at + 1)
        fc.pre(changed !== id)
        return createSessionIds(key).read(changed) === undefined
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused when it is any other text', () => {
    const ids = createSessionIds(key)
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => ids.read(text) === undefined),
      { numRuns: 1000 },
    )
  })
})
