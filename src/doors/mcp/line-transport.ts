// JSON-RPC lines over a pair of streams, for the SDK's server. Unlike the SDK's own, it answers what is not JSON, and at the end
// of the input it waits for the answers still to come: `printf … | agent-gateway stdio` gets all of them.
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { isObject } from '../../lib/json.ts'
import { errorText, isRpcId, RPC, type RpcId } from './wire.ts'

/** @param closed is called once, when the transport has closed */
export function createLineTransport(
  streams: { readonly stdin: Readable; readonly stdout: Writable },
  parse: (value: unknown) => JSONRPCMessage,
  closed: () => void,
): Transport {
  const unanswered = new Set<RpcId>()
  let lines: Interface | undefined
  let isEnded = false
  let isClosed = false

  const transport: Transport = {
    async start() {
      lines = createInterface({ input: streams.stdin, crlfDelay: Infinity })
      lines.on('line', receive)
      lines.once('close', () => {
        isEnded = true
        closeWhenAnswered()
      })
    },
    async send(message) {
      if (isClosed) return
      streams.stdout.write(`${JSON.stringify(message)}\n`)
      if (!('method' in message) && isRpcId(message.id)) unanswered.delete(message.id)
      closeWhenAnswered()
    },
    async close() {
      if (isClosed) return
      isClosed = true
      lines?.close()
      transport.onclose?.()
      closed()
    },
  }

  function receive(line: string): void {
    if (line.trim() === '' || isClosed) return
    let message: JSONRPCMessage
    try {
      message = parse(JSON.parse(line))
    } catch (thrown) {
      const code = thrown instanceof SyntaxError ? RPC.parseError : RPC.invalidRequest
      streams.stdout.write(`${errorText(null, { code, message: 'Send one JSON-RPC message a line.' })}\n`)
      return
    }
    if ('method' in message && 'id' in message) unanswered.add(message.id)
    if ('method' in message && message.method === 'notifications/cancelled') forget(message.params)
    transport.onmessage?.(message)
  }

  /** A cancelled request is never answered. */
  function forget(params: unknown): void {
    const id = isObject(params) ? params['requestId'] : undefined
    if (isRpcId(id)) unanswered.delete(id)
  }

  function closeWhenAnswered(): void {
    if (isEnded && unanswered.size === 0) void transport.close()
  }
  return transport
}
