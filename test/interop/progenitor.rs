//! Prints the client that progenitor makes of a document in OpenAPI 3.0: progenitor OPENAPI.

fn main() {
    let path = std::env::args().nth(1).expect("the path of the document");
    let text = std::fs::read_to_string(path).expect("the document");
    let document: openapiv3::OpenAPI = serde_json::from_str(&text).expect("OpenAPI 3.0");
    let mut generator = progenitor_impl::Generator::default();
    println!("{}", generator.generate_tokens(&document).expect("a client"));
}
