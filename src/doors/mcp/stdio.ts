// MCP over stdio: a bridge to a gateway that runs elsewhere, or the door of one in this process.
// stdout carries protocol messages only, one a line.
import type { Readable, Writable } from 'node:stream'
import type { McpDoor } from './index.ts'
import { createBridge } from './bridge.ts'
import type { Spelling } from './names.ts'

export interface StdioOptions {
  /** A running gateway's MCP address; or `door`, to serve in this process. */
  readonly target: { readonly url: string } | { readonly door: Pick<McpDoor, 'stdio'> }
  /** Service key or capability that every call is made with. */
  readonly token?: string | undefined
  /** The names that a bridge asks for where its address does not say: portable, which every client accepts. */
  readonly names?: Spelling
  readonly stdin?: Readable
  readonly stdout?: Writable
}

/** Resolves when the client closed its end and, over a bridge, what it asked for is answered. */
export async function serveMcpStdio(options: StdioOptions): Promise<void> {
  const { target, token, names = 'portable', stdin = process.stdin, stdout = process.stdout } = options
  if ('door' in target) return target.door.stdio({ stdin, stdout }, token)
  const url = new URL(target.url)
  if (!url.searchParams.has('names')) url.searchParams.set('names', names)
  await createBridge({ url, token, stdout }).run(stdin)
}
