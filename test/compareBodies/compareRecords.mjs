// Says in which answers, rows and rejections two records differ.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Differences of one file that are printed. */
const shownMax = 8;
const shownLength = 200;

/** @param print receives a readable text for each file that differs. */
export function compareRecords(a, b, print) {
  const [filesOfA, filesOfB] = [listFiles(a), listFiles(b)];
  const files = [...new Set([...filesOfA, ...filesOfB])].sort();
  let different = 0;
  for (const file of files) {
    const lines =
      filesOfA.has(file) && filesOfB.has(file)
        ? findDifferences(a, b, file)
        : reportMissing(filesOfA, file, a, b);
    if (lines.length === 0) continue;
    different++;
    const more = lines.length > shownMax ? [`and ${lines.length - shownMax} more`] : [];
    print([file, ...[...lines.slice(0, shownMax), ...more].map((line) => `    ${line}`)].join('\n'));
  }
  return { compared: files.length, different };
}

function listFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Set(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, path, name }) =>
        join(parentPath ?? path, name)
          .slice(folder.length)
          .replace(/^\/+/, ''),
      ),
  );
}

function reportMissing(filesOfA, file, a, b) {
  return [`only in ${filesOfA.has(file) ? a : b}`];
}

function findDifferences(a, b, file) {
  const [inA, inB] = [a, b].map((folder) => readFileSync(join(folder, file)));
  if (inA.equals(inB)) return [];
  if (file.endsWith('.jsonl')) return diffLines(inA.toString(), inB.toString());
  const [answerA, answerB] = [inA, inB].map(parseAnswer);
  return [
    ...diffLines(answerA.asked, answerB.asked, 'asked: '),
    ...diffLines(answerA.head, answerB.head),
    ...diffBodies(answerA.body, answerB.body),
  ];
}

/** What was asked, status and headers, and the body, separated by empty lines. */
function parseAnswer(bytes) {
  const text = bytes.toString('latin1');
  const headAt = text.indexOf('\n\n');
  const bodyAt = text.indexOf('\n\n', headAt + 2);
  return {
    asked: text.slice(0, headAt),
    head: text.slice(headAt + 2, bodyAt),
    body: bytes.subarray(bodyAt + 2).toString(),
  };
}

/** Lines of only one of two texts. */
function diffLines(a, b, label = '') {
  const [linesOfA, linesOfB] = [a, b].map((text) => text.split('\n'));
  const [setOfA, setOfB] = [new Set(linesOfA), new Set(linesOfB)];
  const found = [
    ...linesOfA.filter((line) => !setOfB.has(line)).map((line) => `- ${label}${shorten(line)}`),
    ...linesOfB.filter((line) => !setOfA.has(line)).map((line) => `+ ${label}${shorten(line)}`),
  ];
  return found.length === 0 && a !== b ? [`${label}the same lines in another order or number`] : found;
}

function diffBodies(a, b) {
  if (a === b) return [];
  try {
    const found = [...diffMembers(JSON.parse(a), JSON.parse(b), 'body')];
    return found.length > 0 ? found : ['body: the same members in another order or notation'];
  } catch {
    return diffLines(a, b);
  }
}

function* diffMembers(a, b, path) {
  const areObjects = [a, b].every((one) => typeof one === 'object' && one !== null);
  if (!areObjects || Array.isArray(a) !== Array.isArray(b)) {
    if (a !== b) yield `${path}: ${shorten(JSON.stringify(a))} -> ${shorten(JSON.stringify(b))}`;
    return;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
    yield* diffMembers(a[key], b[key], `${path}.${key}`);
}

function shorten(text = 'nothing') {
  return text.length > shownLength ? `${text.slice(0, shownLength)}… (${text.length})` : text;
}
