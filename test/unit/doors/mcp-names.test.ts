import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/registry.ts'
import { spellSchema } from '../../../src/core/tool-words.ts'
import { DOT_ACCEPTING_CLIENTS } from '../../../src/data/dot-accepting-clients.ts'
import { chooseSpelling, createSpell, type NamesSetting } from '../../../src/doors/mcp/names.ts'
import { tools } from '../../../tools/index.ts'

const nothing = { query: undefined, clientName: undefined, userAgent: undefined, session: undefined }

describe('the spelling a connection is shown', () => {
  it.each([
    ['nothing is known', 'auto', {}, 'portable'],
    ['the operator wants underscores', 'portable', { clientName: 'claude-code' }, 'portable'],
    ['the operator wants dots', 'dotted', { clientName: 'claude-ai' }, 'dotted'],
    ['the connection overrules the operator', 'dotted', { query: 'portable' }, 'portable'],
    ['the connection wants dots', 'auto', { query: 'dotted', clientName: 'claude-ai' }, 'dotted'],
    ['the connection asks to be recognised', 'dotted', { query: 'auto', clientName: 'my-agent' }, 'portable'],
    ['the client accepts dots, by name', 'auto', { clientName: 'Claude-Code' }, 'dotted'],
    ['the client accepts dots, by User-Agent', 'auto', { userAgent: 'claude-code/2.1.92 (cli)' }, 'dotted'],
    [
      'a name only begins like one that accepts dots',
      'auto',
      { clientName: 'claude-code-router' },
      'portable',
    ],
    ['a User-Agent only mentions it', 'auto', { userAgent: 'proxy/1 claude-code/2' }, 'portable'],
    [
      'a name is unknown behind a User-Agent that is known',
      'auto',
      { clientName: 'my-agent', userAgent: 'claude-code/2' },
      'portable',
    ],
    ['initialize settled it', 'auto', { session: 'dotted', userAgent: 'node' }, 'dotted'],
    [
      'initialize settled it for a client that a User-Agent hides',
      'auto',
      { session: 'portable', userAgent: 'claude-code/2' },
      'portable',
    ],
  ] as const)('when %s', (_, setting, hints, expected) => {
    expect(chooseSpelling(setting as NamesSetting, { ...nothing, ...hints })).toBe(expected)
  })

  it.each(DOT_ACCEPTING_CLIENTS)('is dotted for $name, with the source that says so', ({ name, source }) => {
    expect(name).toBe(name.toLowerCase())
    expect(source.length).toBeGreaterThan(10)
    expect(chooseSpelling('auto', { ...nothing, clientName: name.toUpperCase() })).toBe('dotted')
  })
})

describe('a text of ours', () => {
  const spell = createSpell(createRegistry(tools))
  const both = (text: string) => [spell(text, 'portable'), spell(text, 'dotted')]

  it.each([
    ['Use gateway.web.fetch.', 'Use gateway_web_fetch.', 'Use gateway.web.fetch.'],
    ['(gateway_email_verify_batch)', '(gateway_email_verify_batch)', '(gateway.email.verify_batch)'],
    ['`gateway.capabilities.get`', '`gateway_capabilities_get`', '`gateway.capabilities.get`'],
    [
      'gateway.capabilities, then gateway_test',
      'gateway_capabilities, then gateway_test',
      'gateway.capabilities, then gateway.test',
    ],
    ['gateway_execute', 'gateway_execute', 'gateway_execute'],
  ])('spells the names in %j', (text, portable, dotted) => {
    expect(both(text)).toEqual([portable, dotted])
  })

  it.each([
    'https://gateway.test/page',
    'mail to me@gateway.test',
    'sandbox.agent-gateway.test',
    'mcp://tool/gateway.web.fetch',
    'gateway.test:8402',
    'gateway.test.example.com',
    'gateway.tests and gateway.test-2 and my_gateway.test',
    'gateway.no.such.tool, gateway.json',
    'agent-gateway/name',
  ])('keeps %j, which names no tool', (text) => {
    expect(both(text)).toEqual([text, text])
  })

  it('is the same text again after both spellings, whatever stands in it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('gateway', '.', '_', 'web.fetch', 'test', ' ', '/', 'execute', 'A', '-')),
        (parts) => {
          const text = parts.join('')
          const [portable = '', dotted = ''] = both(text)
          expect(spell(dotted, 'portable')).toBe(portable)
          expect(spell(portable, 'dotted')).toBe(dotted)
        },
      ),
    )
  })

  it('keeps what a schema lets a caller send', () => {
    const schema = {
      description: 'of gateway.web.fetch',
      properties: { title: { const: 'gateway.web.fetch', title: 'gateway.web.fetch' } },
    }
    expect(spellSchema(schema, (text) => spell(text, 'portable'))).toEqual({
      description: 'of gateway_web_fetch',
      properties: { title: { const: 'gateway.web.fetch', title: 'gateway_web_fetch' } },
    })
  })
})
