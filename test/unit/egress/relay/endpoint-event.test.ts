import { describe, expect, it } from 'vitest'
import type { AnswerSink } from '../../../../src/core/message.ts'
import { leadThroughBase } from '../../../../src/egress/relay/endpoint-event.ts'

function pass(writes: readonly string[], headers: readonly (readonly [string, string])[] = EVENTS): string {
  let out = ''
  const sink: AnswerSink = {
    isGone: false,
    begin() {},
    write(bytes) {
      out += Buffer.from(bytes).toString('utf8')
      return undefined
    },
    end() {},
    abort() {},
  }
  const through = leadThroughBase(sink, { base: '/via/tools', url: 'https://mcp.example.com/sse' })
  through.begin(200, headers)
  for (const text of writes) void through.write(Buffer.from(text))
  return out
}
const EVENTS = [['content-type', 'text/event-stream; charset=utf-8']] as const

describe('the event that names an address', () => {
  it.each([
    ['event: endpoint\ndata: /messages?s=1\n\n', 'event: endpoint\ndata: /via/tools/messages?s=1\n\n'],
    ['data:/m\r\nevent:endpoint\r\n\r\n', 'data:/via/tools/m\r\nevent:endpoint\r\n\r\n'],
    [
      ': hé\n\nretry: 5\n\nevent: endpoint\ndata: /m\n\n',
      ': hé\n\nretry: 5\n\nevent: endpoint\ndata: /via/tools/m\n\n',
    ],
    ['event: endpoint\ndata: https://mcp.example.com/m\n\n', 'event: endpoint\ndata: /via/tools/m\n\n'],
  ])('leads through the base URL: %j', (given, expected) => {
    expect(pass([given])).toBe(expected)
  })

  it('is found behind a comment that came before', () => {
    expect(pass([': ping\n\n', 'event: endpoint\ndata: /m\n\n'])).toContain('data: /via/tools/m\n')
  })

  it.each([
    'event: endpoint\ndata: https://other.example.com/m\n\n',
    'event: endpoint\ndata: //other.example.com/m\n\n',
    'event: endpoint\ndata: http://mcp.example.com/m\n\n',
    'event: endpoint\ndata: messages?s=1\n\n',
    'event: endpoint\ndata: /a\ndata: /b\n\n',
    'event: endpoints\ndata: /m\n\n',
    'data: /m\n\n',
    'event: message\ndata: event: endpoint\n\nevent: endpoint\ndata: /m\n\n',
  ])('is left as it came where it is elsewhere, relative, or no such event: %j', (given) => {
    expect(pass([given])).toBe(given)
  })

  it('is left alone behind the first event, in other types, and where a length was said', () => {
    const endpoint = 'event: endpoint\ndata: /m\n\n'
    expect(pass(['data: hello\n\n', endpoint])).toBe(`data: hello\n\n${endpoint}`)
    expect(pass([endpoint], [['content-type', 'text/plain']])).toBe(endpoint)
    expect(pass([endpoint], [...EVENTS, ['content-length', String(endpoint.length)]])).toBe(endpoint)
  })
})
