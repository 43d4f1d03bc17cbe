// A receipt with its verdict: one line, the checks behind it. For pages, and for islands that have just got a receipt.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { checkContents } from '../browser/lib/contents.ts'
import { fetchKeys, type Proof, type ProofKind, readEnvironment, verifyProof } from '../browser/lib/proof.ts'
import type { Language } from '../routes.ts'
import type { ProofTexts } from '../texts/proof.ts'
import { Checks, shownVerdict, VerdictLine } from './proof/checks.tsx'
import { Pairs } from './proof/pairs.tsx'
import { State } from './state.tsx'

export interface VerifiedReceiptProps {
  /** Compact, as the answer had it in `receipt.jws`, or evidence in `evidence.jws`. */
  readonly jws: string
  readonly kind?: ProofKind
  /** The whole answer that it came with, as JSON: its digest is compared, too. */
  readonly answer?: unknown
  /** Label of the claims, where they are shown, too: from the document that was verified, not from what the server says of it. */
  readonly claims?: string
  /** `page.api`, `page.baseUrl`, `page.language` */
  readonly api: string
  readonly baseUrl: string
  readonly language: Language
  /** `proof[page.language]` of texts/proof.ts */
  readonly texts: ProofTexts
}

/** Verifies in the browser once it is drawn there; until then it says that it is at it. */
export function VerifiedReceipt({
  jws,
  kind = 'receipt',
  answer,
  claims,
  api,
  baseUrl,
  language,
  texts,
}: VerifiedReceiptProps): VNode {
  const [proof, setProof] = useState<Proof>()
  useEffect(() => {
    const ended = new AbortController()
    setProof(undefined)
    void verify({ jws, kind, answer, api, baseUrl }, ended.signal).then((verified) => {
      if (!ended.signal.aborted) setProof(verified)
    })
    return () => ended.abort()
  }, [jws, kind, answer, api, baseUrl])

  // What stands here while it is verified takes the room of the usual verdict, so that nothing moves.
  const environment = proof ? proof.checks.find(({ name }) => name === 'environment') : readEnvironment(jws)
  return (
    <div class="verified" data-verdict={proof && shownVerdict(proof)}>
      <div class="verdict-slot needs-script" role="status" data-size={texts.verdicts.genuine}>
        {proof ? (
          <VerdictLine proof={proof} language={language} texts={texts} />
        ) : (
          <State is="waiting" page={{ language }} words={texts.working} />
        )}
      </div>
      <p class="without-script">{texts.noScript}</p>
      {environment?.is === 'waiting' && <p class="small saffron">◆ {texts.codes[environment.code]}</p>}
      <details class="needs-script">
        <summary>{texts.checks}</summary>
        {proof && <Checks checks={proof.checks} language={language} texts={texts} />}
      </details>
      {claims !== undefined && (
        <details class="needs-script">
          <summary>{claims}</summary>
          {proof?.payload && <Pairs value={proof.payload} />}
        </details>
      )}
    </div>
  )
}

/** The receipt with everything that can be looked at beside it. */
async function verify(
  {
    jws,
    kind,
    answer,
    ...where
  }: Required<Pick<VerifiedReceiptProps, 'jws' | 'kind' | 'api' | 'baseUrl'>> & { readonly answer: unknown },
  signal: AbortSignal,
): Promise<Proof> {
  const keys = await fetchKeys(where, signal)
  const proof = await verifyProof(jws, { keys, expected: kind, now: Date.now() })
  return { ...proof, checks: [...proof.checks, ...(await checkContents(proof, answer, ''))] }
}
