// Reads one thing out of a domain's SPF records (RFC 7208): that it sends no mail at all. A domain without mail hosts that
// says so has no mail in either direction in mind, though by RFC 5321 its address would take it.

/** @param records TXT records of the domain; several of SPF are an error and say nothing (RFC 7208, 4.5) */
export function sendsNoMail(records: readonly string[]): boolean {
  const policies = records.filter((record) => /^v=spf1(?: |$)/i.test(record))
  const [policy, ...others] = policies
  if (policy === undefined || others.length > 0) return false
  const terms = policy.toLowerCase().split(' ').slice(1)
  // A modifier has a name, `=` and a value; of them redirect= alone decides about senders, and not behind an `all`.
  const mechanisms = terms.filter((term) => term !== '' && !/^[a-z][a-z0-9._-]*=/.test(term))
  return mechanisms[0] === '-all'
}
