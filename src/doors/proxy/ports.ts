// What the proxy door is given. The gateway's own door and the private one of `agent-gateway run` differ in this alone.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Agent } from '../../core/caller.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { UpgradeRequest } from '../http/upgrade.ts'
import type { CertificateAuthority } from '../../interception/authority.ts'
import type { TargetOptions } from '../../egress/target.ts'

/** What becomes of a host that the agent has no credential for. */
export const UNKNOWN_HOSTS = ['deny', 'tunnel', 'inspect'] as const
export type UnknownHosts = (typeof UNKNOWN_HOSTS)[number]

/** Whoever opened a connection, once the door knows. */
export interface ProxyAgent {
  /** For logs: of a capability, never its token. */
  readonly id: string
  /** Where it is the holder of a capability. */
  readonly caller?: Agent
  readonly unknown: UnknownHosts
  /** Whether it holds anything for this host, as of now. */
  covers(host: string, port: number): boolean | Promise<boolean>
  /** Whether connections to a host that it holds nothing for pass unopened, whatever `unknown` says. */
  tunnels?(host: string, port: number): boolean
  /**
   * Answers one decrypted request, or refuses it.
   * @param url absolute, its path and query in the program's own spelling
   * @param upgrade where it asks for a WebSocket; `res` is its own then
   * @throws {GatewayError} before anything was answered: the door answers it, and tells of it
   */
  relay(req: IncomingMessage, res: ServerResponse, url: string, upgrade?: UpgradeRequest): Promise<void>
  /**
   * Takes a place for a connection that is let through; left out where there is no bound.
   * @returns what gives it back, once
   * @throws {GatewayError} rate_limited
   */
  enter?(): () => void
  /** Told when the agent may not use the door any more, for connections that nobody opens; left out where it always may. */
  watchRevocation?(): { readonly signal: AbortSignal; leave(): void }
}

export interface Destination {
  /** Lower case, a name and no address. */
  readonly host: string
  readonly port: number
}

/** The way to hosts that no credential is used for: every address is classified before it is dialled. */
export interface Outside {
  /** @throws {GatewayError} target_blocked, egress_paused, upstream_unreachable */
  connect(to: Destination): Promise<Duplex>
  /** The same, with a handshake in which the server proves its name. */
  connectTls(to: Destination): Promise<Duplex>
}

export const WAYS = ['credential', 'tunnel', 'inspect'] as const
export type Way = (typeof WAYS)[number]

/** A connection that was let through, when it is over. */
export interface Passage extends Destination {
  readonly agentId: string
  readonly way: Way
  /** Requests inside, of a connection that was opened; 0 for a tunnel. */
  readonly requests: number
  /** What went through a tunnel, TLS included; 0 where the connection was opened. */
  readonly bytesUp: number
  readonly bytesDown: number
}

export interface Refusal {
  readonly agentId: string | undefined
  /** As far as it could be read. */
  readonly host: string
  readonly code: string
  readonly reason: string | undefined
  /** The sentence that the program was given and hardly ever shows. */
  readonly detail: string
}

/** Told of what happens; programs show their users next to nothing of it. */
export interface ProxyWatch {
  passed(passage: Passage): void
  refused(refusal: Refusal): void
}

/** A refusal as whoever keeps a record of them is told of it. */
export interface RecordedRefusal {
  /** Undefined where nobody was found. */
  readonly agent: ProxyAgent | undefined
  /** What was presented. */
  readonly token: string | undefined
  readonly address: string
  readonly host: string
  /** Of the problem document. */
  readonly requestId: string
  readonly error: GatewayError
}

/** One connection that asked for a tunnel. */
export interface ObservedConnect {
  established(way: Way): void
  refused(status: number): void
}

/** Stands around what the door does. Each calls `handle` at once, and once. */
export interface ObserveProxy {
  /** A CONNECT, until its connection closes. */
  connect(req: IncomingMessage, socket: Duplex, handle: (told: ObservedConnect) => void): void
  /** A request that can be read: inside of an opened connection (`https`), or of the door itself. */
  request(
    request: {
      readonly req: IncomingMessage
      readonly res: ServerResponse
      readonly upgrade?: UpgradeRequest | undefined
      readonly scheme: 'http' | 'https'
    },
    handle: () => void,
  ): void
}

export interface ProxyDoorParts {
  /**
   * @param token what the program presented; undefined where it presented nothing
   * @param port of its end of the connection; undefined on a socket of the file system
   * @throws {GatewayError} proxy_identity_required, capability_invalid, rate_limited
   */
  identify(
    token: string | undefined,
    address: string,
    port: number | undefined,
  ): ProxyAgent | Promise<ProxyAgent>
  readonly authority: CertificateAuthority
  readonly outside: Outside
  readonly targets: Pick<TargetOptions, 'ports' | 'allowSandboxName'>
  readonly watch: ProxyWatch
  /** Told of each refusal before it is answered. Never rejects; left out where nobody keeps a record. */
  readonly record?: (refusal: RecordedRefusal) => Promise<void>
  /** Left out where nothing is measured. */
  readonly observe?: ObserveProxy | undefined
  /** Of problem documents. */
  readonly baseUrl: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Longest wait for the head of a request on an opened connection, in milliseconds; two minutes unless given. */
  readonly waitMs?: number | undefined
}
