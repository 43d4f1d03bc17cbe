// Public sources for tests: HTTPS servers under public names on 127.0.0.1, with a name server and a certificate authority
// of their own, and the gateway's real way out to them.
import { createResolver } from '../../src/egress/adapters/dns.ts'
import { createSender } from '../../src/egress/adapters/undici.ts'
import { checkPolicy, type EgressPolicy } from '../../src/egress/policy.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createTargets } from '../../src/outbound/targets.ts'
import { createTestCa, type TestCa } from './ca.ts'
import { startDnsServer, type TestDnsServer } from './dns-server.ts'
import { LOOPBACK_IS_PUBLIC } from './loopback.ts'
import { startUpstream, type TestUpstream } from './upstream.ts'

export interface TestSources {
  readonly ca: TestCa
  readonly dns: TestDnsServer
  readonly upstream: TestUpstream
  /** `https://<host>:<port><path>`; the host is one of `hosts`, the first unless told. */
  url(path: string, host?: string): string
  /** The operator's brake: changed by tests. */
  readonly policy: { denied_hosts: string[]; paused: boolean }
  /** For createReader and createOutcomes. */
  readonly parts: {
    readonly targets: ReturnType<typeof createTargets>
    readonly sender: ReturnType<typeof createSender>
    readonly rules: { readonly ports: number[]; readonly allowSandboxName: boolean }
    readonly now: () => number
  }
  close(): Promise<void>
}

/** @param hosts public names that lead to the upstream and are in its certificate */
export async function startSources(...hosts: string[]): Promise<TestSources> {
  const ca = await createTestCa()
  const dns = await startDnsServer(Object.fromEntries(hosts.map((host) => [host, { A: ['127.0.0.1'] }])))
  const upstream = await startUpstream(await ca.leaf(...hosts))
  const policy: EgressPolicy = { denied_hosts: [], paused: false }
  const sender = createSender({ fault: noFault, policy: LOOPBACK_IS_PUBLIC, ca: [ca.pem] })
  return {
    ca,
    dns,
    upstream,
    policy,
    url: (path, host = hosts[0]!) => `https://${host}:${upstream.port}${path}`,
    parts: {
      targets: createTargets({
        // Asked once for each look-up, which is over before: tests count the questions, and the answers differ.
        resolver: createResolver([dns.address], Date.now, 6_000),
        policy: LOOPBACK_IS_PUBLIC,
        allowSandboxName: false,
        checkHost: async (host) => checkPolicy(policy, host),
      }),
      sender,
      rules: { ports: [443, upstream.port], allowSandboxName: false },
      now: Date.now,
    },
    async close() {
      await sender.close()
      await Promise.all([upstream.close(), dns.close()])
    },
  }
}
