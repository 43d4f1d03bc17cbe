// What the benchmarks put upstream of a gateway: a process of its own over TLS on loopback, the authority that its certificate is from,
// a DNS server that knows its name, and a directory for the files of all. Made once for a run, and removed behind it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa, type TestCa } from '../test/support/ca.ts'
import { startDnsServer, type TestDnsServer } from '../test/support/dns-server.ts'

export interface TlsUpstream {
  /** For data directories as well; removed by `close`. */
  readonly directory: string
  readonly ca: TestCa
  /** The authority in PEM, for NODE_EXTRA_CA_CERTS. */
  readonly caFile: string
  readonly dns: TestDnsServer
  /** What a server of `peers/` is given for its certificate. */
  readonly env: { readonly TLS_KEY: string; readonly TLS_CERT: string }
  /** The last thing of a run: the servers that use it have stopped. */
  close(): Promise<void>
}

/**
 * @param host the upstream's name, which is in no DNS but this one
 * @param ttl seconds that its address is remembered
 */
export async function prepareTlsUpstream(host: string, ttl = 60): Promise<TlsUpstream> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
  const ca = await createTestCa()
  const leaf = await ca.leaf(host, '127.0.0.1')
  const caFile = await ca.write(directory)
  const env = { TLS_KEY: join(directory, 'leaf.key'), TLS_CERT: join(directory, 'leaf.pem') }
  await writeFile(env.TLS_KEY, leaf.key)
  await writeFile(env.TLS_CERT, leaf.cert)
  const dns = await startDnsServer({ [host]: { A: ['127.0.0.1'], ttl } })
  return {
    directory,
    ca,
    caFile,
    dns,
    env,
    async close() {
      await dns.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
