// A capability to call an upstream of a benchmark with.

/** Stores a credential for the host at the gateway, and issues a capability on it. */
export async function issueCapability(
  { url }: { readonly url: string },
  operatorKey: string,
  host: string,
): Promise<string> {
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorKey}` },
      body: JSON.stringify(body),
    })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, string>
  }
  const scope = { hosts: [host], path_prefixes: ['/v1'], methods: ['GET'] }
  const credential = await post('/v1/egress/credentials', {
    provider: 'custom',
    label: 'bench',
    secret: 'bench-secret-bench-secret',
    ...scope,
  })
  const issued = await post('/v1/egress/capabilities', {
    credential_id: credential['credential_id'],
    ttl_seconds: 86_400,
    ...scope,
  })
  return issued['capability']!
}
