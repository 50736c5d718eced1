//! Statements as files have them, made ready to be prepared.

/// A statement: its text, with a question mark for each parameter, and their names in that order.
#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    /// What is sent, once for each connection.
    pub text: String,
    /// The parameters that the question marks stand for.
    pub parameters: Vec<&'static str>,
}

/// What ends a statement that tells what it has done, which MySQL does not know.
const RETURNING: &str = "RETURNING ";

impl Statement {
    /// The lines of `template` that are for the operation `letter`: those that begin with it in
    /// brackets, and those that begin with none. What `texts` names is put in as it is; what else
    /// stands in braces is a parameter.
    pub fn new(template: &'static str, letter: char, texts: &[(&str, &str)]) -> Self {
        let lines = template.lines().filter_map(|line| match line.strip_prefix('[') {
            _ if line.starts_with("--") => None,
            None => Some(line.trim_start()),
            Some(rest) => {
                let (letters, line) = rest.split_once(']')?;
                letters.contains(letter).then(|| line.trim_start())
            }
        });
        let mut statement = Self { text: String::new(), parameters: Vec::new() };
        for line in lines {
            statement.add(line, texts);
            statement.text.push('\n');
        }
        statement
    }

    fn add(&mut self, line: &'static str, texts: &[(&str, &str)]) {
        let mut parts = line.split('{');
        self.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap_or((part, ""));
            match texts.iter().find(|(known, _)| *known == name) {
                Some((_, text)) => self.text.push_str(text),
                None => {
                    self.text.push('?');
                    self.parameters.push(name);
                }
            }
            self.text.push_str(rest);
        }
    }

    /// The statement without its `RETURNING`, and a second that tells the same, for a server that
    /// does not know it.
    pub fn in_two(&self) -> (&str, Option<String>) {
        match self.text.rsplit_once(RETURNING) {
            Some((statement, told)) => (statement, Some(format!("SELECT {told}"))),
            None => (&self.text, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_parameters_are_chosen() {
        let template = "-- what it does\nUPDATE `{table}` SET\n[AB] a = {a},\n[C] c = {a},\n  b = {b} + {a}\nRETURNING @n";
        let statement = Statement::new(template, 'A', &[("table", "t")]);
        assert_eq!(statement.text, "UPDATE `t` SET\na = ?,\nb = ? + ?\nRETURNING @n\n");
        assert_eq!(statement.parameters, ["a", "b", "a"]);
        let (first, second) = statement.in_two();
        assert_eq!(first, "UPDATE `t` SET\na = ?,\nb = ? + ?\n");
        assert_eq!(second.as_deref(), Some("SELECT @n\n"));
    }
}
