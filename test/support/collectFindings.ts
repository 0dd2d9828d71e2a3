import type { Finding } from '../../deploy/diagnosis/finding.ts';

/** Everything that checks find. */
export async function collectFindings(findings: AsyncIterable<Finding>): Promise<Finding[]> {
  const collected: Finding[] = [];
  for await (const finding of findings) collected.push(finding);
  return collected;
}
