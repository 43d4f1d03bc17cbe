// What can be wrong with a node as a whole, for a proxy that answers in its place.
import type { ServerResponse } from 'node:http'

type Answer = (body: string, res: ServerResponse) => void
interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly { readonly data?: string }[]
}

const answerAll =
  (make: (call: Call) => object): Answer =>
  (body, res) => {
    const parsed = JSON.parse(body) as Call | Call[]
    const answers = [parsed].flat().map((call) => ({ jsonrpc: '2.0', id: call.id, ...make(call) }))
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
  }

const fail = (code: number, message: string) => ({ error: { code, message } })
const ZERO_WORD = `0x${'0'.repeat(64)}`

/** Mainnet of Ethereum, behind the same address: everything is unused there, and its clock is days ahead. */
const ofAnotherChain = answerAll(({ method, params }) => {
  switch (method) {
    case 'eth_chainId':
      return { result: '0x1' }
    case 'eth_getBlockByNumber': {
      const timestamp = Math.floor(Date.now() / 1000) + 10 * 86_400
      return { result: { number: '0x1000', timestamp: `0x${timestamp.toString(16)}`, baseFeePerGas: '0x7' } }
    }
    case 'eth_blockNumber':
      return { result: '0x1000' }
    case 'eth_call':
      // A transfer answers nothing, a question one word.
      return { result: params[0]?.data?.startsWith('0xe3ee160e') ? '0x' : ZERO_WORD }
    case 'eth_getCode':
      return { result: '0x' }
    case 'eth_getLogs':
      return { result: [] }
    case 'eth_getTransactionCount':
    case 'eth_maxPriorityFeePerGas':
      return { result: '0x0' }
    case 'eth_sendRawTransaction':
      return fail(-32000, 'invalid chain id for signer')
    default:
      return { result: null }
  }
})

export const NODE_FAULTS = {
  'ends every connection': (_body, res) => void res.destroy(),
  // The connection stays open until whoever asked gives up.
  'says nothing': () => {},
  'answers a page': (_body, res) => void res.end('<html>bad gateway</html>'),
  'answers with status 503': (_body, res) => void res.writeHead(503).end('{}'),
  'has had enough questions': answerAll(() => fail(-32005, 'limit exceeded')),
  'is of another chain': ofAnotherChain,
} as const satisfies Record<string, Answer>
export type NodeFault = keyof typeof NODE_FAULTS

/** The right answers of the node behind it, each one late. */
export const answerLate =
  (target: string, ms: number): Answer =>
  (body, res) => {
    const answered = fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const timer = setTimeout(() => {
      answered
        .then((answer) => answer.text())
        .then((text) => res.setHeader('content-type', 'application/json').end(text))
        .catch(() => res.destroy())
    }, ms)
    res.once('close', () => clearTimeout(timer))
  }
